"""Flexible bodies from matrices in files that NumPy writes."""

import gc
import itertools
import warnings

import numpy as np
import pytest

import liedyn as ld

COUNT = 6


def truss():
    """Masses at the corners of a crooked octahedron with a spring along each line between two: M, K, nodes."""
    nodes = np.array([[1, 0, 0], [-1.1, 0.1, 0], [0, 0.9, 0], [0.1, -1, 0], [0, 0, 1.2], [0, 0.1, -0.8]])
    stiffness = np.zeros((3 * COUNT, 3 * COUNT))
    for i, j in itertools.combinations(range(COUNT), 2):
        along = (nodes[j] - nodes[i]) / np.linalg.norm(nodes[j] - nodes[i])
        block = 1000 * (1 + i) * np.outer(along, along)
        for a, b, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
            stiffness[3 * a : 3 * a + 3, 3 * b : 3 * b + 3] += sign * block
    return np.diag(np.repeat(1.0 + 0.5 * np.arange(COUNT), 3)), stiffness, nodes


def as_csr(matrix):
    """What scipy.sparse.save_npz writes of a csr_matrix."""
    rows = [np.flatnonzero(row) for row in matrix]
    return {
        "indices": np.concatenate(rows).astype(np.int32),
        "indptr": np.cumsum([0, *map(len, rows)]).astype(np.int32),
        "format": np.array(b"csr"),
        "shape": np.array(matrix.shape),
        "data": np.concatenate([row[chosen] for row, chosen in zip(matrix, rows)]),
    }


def as_coo(matrix):
    row, col = np.nonzero(matrix)
    return {"row": row, "col": col, "format": np.array(b"coo"), "shape": np.array(matrix.shape), "data": matrix[row, col]}


def body(**files):
    kind = {"type": "matrices", "method": "free", "modes": 6, **{name: str(file) for name, file in files.items()}}
    return {"liedyn": 1, "flexible": {"truss": kind}, "simulation": {"end": 1, "step": 1e-3}}


def in_one_file(directory, save):
    mass, stiffness, nodes = truss()
    file = directory / "truss.npz"
    save(file, M=mass, K=stiffness, nodes=nodes)
    return {"mass_matrix": file, "stiffness_matrix": file, "nodes": file}


def with_other_names(directory, save):
    mass, stiffness, nodes = truss()
    file = directory / "truss.npz"
    save(file, m=np.asfortranarray(mass), k=stiffness, x=nodes)
    return {"mass_matrix": f"{file}:m", "stiffness_matrix": f"{file}:k", "nodes": f"{file}:x"}


def sparse(directory, save):
    mass, stiffness, nodes = truss()
    save(directory / "mass.npz", **as_coo(mass))
    save(directory / "stiffness.npz", **as_csr(stiffness))
    np.save(directory / "nodes.npy", nodes)
    return {"mass_matrix": directory / "mass.npz", "stiffness_matrix": directory / "stiffness.npz", "nodes": directory / "nodes.npy"}


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("write", [in_one_file, with_other_names, sparse])
def test_frequencies_are_those_of_the_matrices(write, save, tmp_path):
    mass, stiffness, _ = truss()
    half = np.diag(1 / np.sqrt(np.diag(mass)))
    expected = np.sqrt(np.linalg.eigvalsh(half @ stiffness @ half)[6:12]) / (2 * np.pi)
    found = np.asarray(ld.modes(body(**write(tmp_path, save))).frequencies)
    elastic = np.sort(found[found > 1e-3 * expected[0]])
    assert elastic == pytest.approx(expected, rel=1e-8), f"{elastic} Hz, expected {expected} Hz"


def test_matrices_in_a_dict_leave_no_warning_behind():
    mass, stiffness, nodes = truss()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = ld.Model(body() | {"flexible": {"truss": {"type": "matrices", "method": "free", "modes": 6, "mass_matrix": mass, "stiffness_matrix": stiffness, "nodes": nodes}}})
        del model
        gc.collect()
    assert not [str(warning.message) for warning in caught]


class Sparse:
    """As much of a matrix of scipy.sparse as is needed."""

    def __init__(self, matrix):
        self.row, self.col = np.nonzero(matrix)
        self.data, self.shape = matrix[self.row, self.col], matrix.shape

    def tocoo(self):
        return self


@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, np.ndarray.tolist, Sparse])
def test_matrices_may_stand_in_a_dict(kind, tmp_path):
    mass, stiffness, nodes = truss()
    expected = ld.modes(body(**in_one_file(tmp_path, np.savez))).frequencies
    model = body()
    given = {"mass_matrix": kind(mass), "stiffness_matrix": kind(stiffness), "nodes": kind(nodes)}
    model["flexible"]["truss"].update(given)
    assert list(ld.modes(model).frequencies) == list(expected)
    compiled = ld.Model(model)
    # Other numbers of the body: its matrices are needed again.
    assert compiled.run(end=1e-3, set={"flexible.truss.damping_ratio": 0.1}).completed
    assert model["flexible"]["truss"]["nodes"] is given["nodes"]


def test_what_is_no_matrix_is_explained():
    mass, stiffness, nodes = truss()
    for wrong, message in ((nodes[0], "got 1 dimensions"), ([[1, 2], [3]], "expected a matrix of real numbers"), (1j * mass, "real")):
        model = body()
        model["flexible"]["truss"].update(mass_matrix=wrong, stiffness_matrix=stiffness, nodes=nodes)
        with pytest.raises(ld.InputError, match=f"flexible.truss.mass_matrix.*{message}"):
            ld.run(model)


def test_a_file_without_the_array_says_what_it_has(tmp_path):
    files = in_one_file(tmp_path, np.savez)
    files["mass_matrix"] = f"{files['mass_matrix']}:mass"
    with pytest.raises(ld.InputError, match="mass_matrix: there is no array 'mass'; there are: K, M, nodes"):
        ld.run(body(**files))
