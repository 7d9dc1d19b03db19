"""Matrices of flexible bodies that stand in a dict: files of them, since a model's text holds names of files only."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from liedyn.errors import Diagnostic, InputError

KEYS = ("mass_matrix", "stiffness_matrix", "nodes")


def has_matrices(model: Mapping[str, Any]) -> bool:
    """Whether a matrix stands where a file has the name of one."""
    return any(is_matrix(body[key]) for _, body in _bodies(model) for key in KEYS if key in body)


def in_files(model: Mapping[str, Any], directory: str | Path, *, prefix: str = "", relative: bool = False) -> dict[str, Any]:
    """The model with its matrices in files of this directory, which must remain as long as the model is used. `relative`: their names are
    without the directory."""
    flexible = dict(model["flexible"])
    for number, (name, body) in enumerate(_bodies(model)):
        flexible[name] = dict(body)
        for key in KEYS:
            if key in body and is_matrix(body[key]):
                file = Path(directory).absolute() / f"{prefix}body{number}_{key}.npz"
                np.savez(file, **_arrays(body[key], f"flexible.{name}.{key}"))
                written = file.name if relative else str(file)
                flexible[name][key] = written if hasattr(body[key], "tocoo") else f"{written}:matrix"
    return {**model, "flexible": flexible}


def _bodies(model: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    flexible = model.get("flexible")
    if not isinstance(flexible, Mapping):
        return []
    return [(name, body) for name, body in flexible.items() if isinstance(body, Mapping) and body.get("type") == "matrices"]


def is_matrix(value: Any) -> bool:
    """Whether it is a matrix and not the name of a file."""
    return isinstance(value, (list, tuple, np.ndarray)) or hasattr(value, "tocoo")


def _arrays(matrix: Any, path: str) -> dict[str, np.ndarray]:
    """What scipy.sparse.save_npz writes of a sparse matrix, and np.savez of a dense one."""
    if hasattr(matrix, "tocoo"):
        coo = matrix.tocoo()
        return {"row": coo.row, "col": coo.col, "format": np.array(b"coo"), "shape": np.array(coo.shape), "data": coo.data}
    try:
        dense = np.asarray(matrix)
        if np.iscomplexobj(dense):
            raise ValueError("these are complex")
        dense = dense.astype(float)
    except (TypeError, ValueError) as error:
        raise InputError([Diagnostic("", 0, path, f"expected a matrix of real numbers: {error}")]) from None
    if dense.ndim != 2:
        raise InputError([Diagnostic("", 0, path, f"expected a matrix with rows and columns, got {dense.ndim} dimensions")])
    return {"matrix": dense}
