"""Linear solvers for one step of large models: those of the program beside PETSc, MUMPS and SuperLU_DIST (Debian's python3-petsc4py).

    ./dev build linear_systems
    python3 benchmarks/scale/solvers.py build/dev/linear_systems net --set rows=100 --set columns=100

For each solver: seconds for a factorisation (or for setting a preconditioner up) and for a solution, iterations, and the residual. Iterative solvers go on until the residual has fallen
by --tolerance. With --ranks 2 the same is run under mpirun.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

DIRECT = {name: {"ksp_type": "preonly", "pc_type": "lu", "pc_factor_mat_solver_type": name} for name in ("mumps", "superlu_dist")}
# Without constraints: block Jacobi, incomplete factors, algebraic multigrid.
PLAIN = {
    "cg, block Jacobi": {"ksp_type": "cg", "pc_type": "pbjacobi"},
    "cg, ILU(0)": {"ksp_type": "cg", "pc_type": "bjacobi", "sub_pc_type": "ilu"},
    "cg, multigrid": {"ksp_type": "cg", "pc_type": "gamg"},
}
# A = (M B^T; B 0): the complement B diag(M)^-1 B^T is assembled, and M solved by blocks.
SCHUR = {"ksp_type": "fgmres", "ksp_gmres_restart": 100, "pc_type": "fieldsplit", "pc_fieldsplit_type": "schur", "pc_fieldsplit_schur_fact_type": "full", "pc_fieldsplit_schur_precondition": "selfp", "fieldsplit_0_ksp_type": "preonly", "fieldsplit_0_pc_type": "bjacobi", "fieldsplit_0_sub_pc_type": "ilu", "fieldsplit_1_ksp_type": "preonly"}
CONSTRAINED = {
    "fgmres, Schur, ILU(0)": SCHUR | {"fieldsplit_1_pc_type": "bjacobi", "fieldsplit_1_sub_pc_type": "ilu"},
    "fgmres, Schur, multigrid": SCHUR | {"fieldsplit_1_pc_type": "gamg"},
    "gmres, ILU(2)": {"ksp_type": "gmres", "ksp_gmres_restart": 100, "pc_type": "bjacobi", "sub_pc_type": "ilu", "sub_pc_factor_levels": 2, "sub_pc_factor_shift_type": "nonzero"},
}


def solve(file: str, tolerance: float) -> None:
    """All of PETSc, on the ranks that this process is one of."""
    import petsc4py

    petsc4py.init([])
    from petsc4py import PETSc
    from scipy.sparse import csr_matrix

    data = np.load(file)
    nv, rows = (int(n) for n in data["sizes"])
    n = nv + rows
    A = csr_matrix((data["values"], (data["rows"].astype(int), data["columns"].astype(int))), shape=(n, n))
    for name, options in (DIRECT | (CONSTRAINED if rows else PLAIN)).items():
        matrix = PETSc.Mat().create(PETSc.COMM_WORLD)
        matrix.setSizes((n, n))
        matrix.setType("aij")
        if rows == 0:
            matrix.setBlockSize(6)
        matrix.setUp()
        first, last = matrix.getOwnershipRange()
        own = A[first:last]
        matrix = PETSc.Mat().createAIJ(((last - first, n), (last - first, n)), csr=(own.indptr, own.indices, own.data), comm=PETSc.COMM_WORLD)
        if rows == 0:
            matrix.setBlockSize(6)
        matrix.assemble()
        PETSc.Options().clear()
        for key, value in options.items():
            PETSc.Options()[key] = value
        ksp = PETSc.KSP().create(PETSc.COMM_WORLD)
        ksp.setOperators(matrix)
        ksp.setTolerances(rtol=tolerance, max_it=2000)
        ksp.setFromOptions()
        if options["pc_type"] == "fieldsplit":
            mine = np.arange(first, last, dtype=np.int32)
            ksp.getPC().setFieldSplitIS(("0", PETSc.IS().createGeneral(mine[mine < nv])), ("1", PETSc.IS().createGeneral(mine[mine >= nv])))
        b, x = matrix.createVecs()
        b.set(1.0)
        start = time.perf_counter()
        try:
            ksp.setUp()
            middle = time.perf_counter()
            ksp.solve(b, x)
            end = time.perf_counter()
            # The order is found once for all steps, so a second factorisation is what a step takes.
            if name in DIRECT:
                matrix.scale(1.0)
                matrix.assemble()
                start = time.perf_counter()
                ksp.setOperators(matrix)
                ksp.setUp()
                middle = time.perf_counter()
                ksp.solve(b, x)
                end = time.perf_counter()
        except PETSc.Error as error:
            if PETSc.COMM_WORLD.rank == 0:
                print(json.dumps({"solver": name, "error": str(error)[-200:]}), flush=True)
            continue
        residual = (b - matrix * x).norm() / b.norm()
        if PETSc.COMM_WORLD.rank == 0:
            print(json.dumps({"solver": name, "factorize": middle - start, "solve": end - middle, "iterations": ksp.getIterationNumber(), "reason": ksp.getConvergedReason(), "residual": residual}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("model")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--tolerance", type=float, default=1e-8)
    parser.add_argument("--own", nargs="*", default=["auto", "klu"], help="solvers of the program")
    parser.add_argument("--solve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.solve:
        return solve(options.solve, options.tolerance)
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "system.npz")
        for i, own in enumerate(options.own):
            done = subprocess.run([options.program, options.model, own, str(options.ranks), file if i == 0 else "-", *options.set], capture_output=True, text=True)
            print(done.stdout.strip() or done.stderr.strip(), flush=True)
        again = [sys.executable, __file__, options.program, options.model, "--solve", file, "--tolerance", str(options.tolerance)]
        if options.ranks > 1:
            again = ["mpirun", "--allow-run-as-root", "-n", str(options.ranks), *again]
        subprocess.run(again, check=True)


main()
