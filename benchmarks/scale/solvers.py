"""Linear solvers for one step of large models: those of the program beside MUMPS, SuperLU_DIST and the iterative solvers of PETSc
(Debian's python3-petsc4py and python3-scipy).

    ./dev build linear_systems
    python3 benchmarks/scale/solvers.py build/dev/linear_systems net --set rows=100 --set columns=100

For each solver: seconds for a factorisation (or for setting a preconditioner up) and for a solution, iterations, the residual, and bytes. What depends
on the pattern alone, such as an order, is found before: a step of a simulation has it. Iterative solvers go on until the residual has fallen by
--tolerance. --ranks 2: two threads of the program, and two ranks of MPI.

MUMPS and SuperLU_DIST need a fast BLAS; Debian's reference BLAS is what is installed if nothing else is. --preload FILE: libraries for them alone.
"""

from __future__ import annotations

import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

DIRECT = {name: {"ksp_type": "preonly", "pc_type": "lu", "pc_factor_mat_solver_type": name} for name in ("mumps", "superlu_dist")}
# Without constraints: block Jacobi, incomplete factors, algebraic multigrid.
CG = {"ksp_type": "cg", "ksp_norm_type": "unpreconditioned"}
PLAIN = {
    "cg, block Jacobi": CG | {"pc_type": "pbjacobi"},
    "cg, ILU(0)": CG | {"pc_type": "bjacobi", "sub_pc_type": "ilu"},
    "cg, multigrid": CG | {"pc_type": "gamg", "pc_gamg_reuse_interpolation": "true"},
}
# A = (M B^T; B 0): the complement B M^-1 B^T is assembled with the inverse of M body by body.
SCHUR = {
    "ksp_type": "fgmres",
    "ksp_gmres_restart": 100,
    "pc_type": "fieldsplit",
    "pc_fieldsplit_type": "schur",
    "pc_fieldsplit_schur_fact_type": "full",
    "pc_fieldsplit_schur_precondition": "selfp",
    "fieldsplit_1_mat_schur_complement_ainv_type": "blockdiag",
    "fieldsplit_0_ksp_type": "preonly",
    "fieldsplit_0_pc_type": "bjacobi",
    "fieldsplit_0_sub_pc_type": "ilu",
    "fieldsplit_1_ksp_type": "preonly",
}
CONSTRAINED = {
    "fgmres, Schur, ILU(0)": SCHUR | {"fieldsplit_1_pc_type": "bjacobi", "fieldsplit_1_sub_pc_type": "ilu"},
    "fgmres, Schur, multigrid": SCHUR | {"fieldsplit_1_pc_type": "gamg", "fieldsplit_1_pc_gamg_reuse_interpolation": "true"},
    "fgmres, Schur, BoomerAMG": SCHUR | {"fieldsplit_1_pc_type": "hypre"},
    "gmres, ILU(2)": {
        "ksp_type": "gmres",
        "ksp_pc_side": "right",
        "ksp_gmres_restart": 100,
        "pc_type": "bjacobi",
        "sub_pc_type": "ilu",
        "sub_pc_factor_levels": 2,
        "sub_pc_factor_shift_type": "nonzero",
    },
}
RUNS = 3  # of each solver, after one that looks at the pattern
LONG = 2.0  # seconds of a run that is not repeated


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def solve(file: str, tolerance: float, only: list[str], skip: list[str]) -> None:
    """All of PETSc, on the ranks that this process is one of."""
    import petsc4py

    petsc4py.init([])
    from petsc4py import PETSc
    from scipy.sparse import csr_matrix, eye

    data = np.load(file)
    nv, rows = (int(n) for n in data["sizes"])
    n, rank, ranks = nv + rows, PETSc.COMM_WORLD.rank, PETSc.COMM_WORLD.size
    A = csr_matrix((data["values"], (data["rows"].astype(int), data["columns"].astype(int))), shape=(n, n))
    A = A + 1e-300 * eye(n, format="csr")  # incomplete factors need a diagonal that is stored, though it is zero
    # Each rank has its share of the motions and of the constraints.
    motions = [6 * (nv // 6 * r // ranks) for r in range(ranks)] + [nv]
    constraints = [nv + 3 * (rows // 3 * r // ranks) for r in range(ranks)] + [nv + rows]
    shares = [np.r_[motions[r] : motions[r + 1], constraints[r] : constraints[r + 1]] for r in range(ranks)]
    order = np.concatenate(shares)
    A = A[order][:, order]
    first = sum(len(share) for share in shares[:rank])
    last = first + len(shares[rank])
    for name, options in (DIRECT | (CONSTRAINED if rows else PLAIN)).items():
        if (only and name not in only) or name in skip:
            continue
        PETSc.Options().clear()
        for key, value in options.items():
            PETSc.Options()[key] = value
        own = A[first:last]
        matrix = PETSc.Mat().createAIJ(((last - first, n), (last - first, n)), csr=(own.indptr, own.indices, own.data), comm=PETSc.COMM_WORLD)
        if rows == 0:
            matrix.setBlockSize(6)
        matrix.assemble()
        before = resident()
        ksp = PETSc.KSP().create(PETSc.COMM_WORLD)
        ksp.setOperators(matrix)
        ksp.setTolerances(rtol=tolerance, max_it=500)
        ksp.setFromOptions()
        if options["pc_type"] == "fieldsplit":
            mine, constrained = np.arange(first, last, dtype=np.int32), shares[rank] >= nv
            parts = [PETSc.IS().createGeneral(mine[part], comm=PETSc.COMM_WORLD) for part in (~constrained, constrained)]
            for part, size in zip(parts, (6, 3 if rows % 3 == 0 else 1)):
                part.setBlockSize(size)
            ksp.getPC().setFieldSplitIS(*zip("01", parts))
        b, x = matrix.createVecs()
        b.set(1.0)
        setup = solution = np.inf
        try:
            for run in range(RUNS + 1):
                matrix.scale(1 + 1e-15)  # the same values, counted as new ones
                PETSc.COMM_WORLD.barrier()
                start = time.perf_counter()
                ksp.setOperators(matrix)
                ksp.setUp()
                ksp.setUpOnBlocks()
                PETSc.COMM_WORLD.barrier()
                middle = time.perf_counter()
                ksp.solve(b, x)
                PETSc.COMM_WORLD.barrier()
                end = time.perf_counter()
                if run > 0:
                    setup, solution = min(setup, middle - start), min(solution, end - middle)
                    if PETSc.COMM_WORLD.tompi4py().bcast(end - start > LONG):
                        break
        except PETSc.Error as error:
            if rank == 0:
                print(json.dumps({"solver": name, "error": str(error)[-200:]}), flush=True)
            continue
        memory = PETSc.COMM_WORLD.tompi4py().allreduce(resident() - before)
        residual = (b - matrix * x).norm() / b.norm()
        if rank == 0:
            found = {"solver": name, "factorize": setup, "solve": solution, "iterations": ksp.getIterationNumber(), "reason": ksp.getConvergedReason(), "residual": residual}
            print(json.dumps(found | {"memory": memory}), flush=True)
        ksp.destroy()
        matrix.destroy()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("model")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--step", type=float, default=1e-3, help="of the integrator: small ones make matrices easy for iterative solvers")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--tolerance", type=float, default=1e-8)
    parser.add_argument("--own", nargs="*", default=["auto", "klu"], help="solvers of the program")
    parser.add_argument("--only", nargs="*", default=[], help="solvers of PETSc, instead of all")
    parser.add_argument("--skip", nargs="*", default=[], help="solvers of PETSc")
    parser.add_argument("--preload", default="", metavar="FILE")
    parser.add_argument("--solve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.solve:
        return solve(options.solve, options.tolerance, options.only, options.skip)
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "system.npz")
        for i, own in enumerate(options.own):
            done = subprocess.run([options.program, options.model, own, str(options.ranks), str(options.step), file if i == 0 else "-", *options.set], capture_output=True, text=True)
            print(done.stdout.strip() or done.stderr.strip(), flush=True)
        again = [sys.executable, __file__, options.program, options.model, "--solve", file, "--tolerance", str(options.tolerance), "--only", *options.only, "--skip", *options.skip]
        if options.ranks > 1:
            again = ["mpirun", "--allow-run-as-root", "-n", str(options.ranks), *again]
        # One thread for each rank; Debian has the module of PETSc in a directory of its own.
        modules = [*glob.glob("/usr/lib/petscdir/petsc*/*-real/lib/python3/dist-packages"), os.environ.get("PYTHONPATH", "")]
        environment = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "LD_PRELOAD": options.preload, "PYTHONPATH": ":".join(filter(None, modules))}
        subprocess.run(again, check=True, env=os.environ | environment)


main()
