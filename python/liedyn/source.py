"""Where models come from: names, files and dicts."""

from __future__ import annotations

import json
import math
import numbers
import os
from collections.abc import Mapping
from typing import Any, Union

import numpy as np

from liedyn import _liedyn
from liedyn.arguments import is_number
from liedyn.comments import without_comments
from liedyn.errors import Diagnostic, InputError
from liedyn.places import Places


class Document:
    """Base of `Builder`: a model that is built in Python, as those who read it see it."""

    def _content(self) -> dict[str, Any]:
        """What its file would hold."""
        raise NotImplementedError

    def _text(self, content: Mapping[str, Any]) -> str:
        """Of its file."""
        raise NotImplementedError

    def save(self, file: str | os.PathLike) -> None:
        """Writes its file."""
        raise NotImplementedError

    def _places(self) -> Places:
        """Where its parts were given, and the file that the rest is from."""
        raise NotImplementedError


ModelSource = Union[str, os.PathLike, Mapping[str, Any], Document]
"""The name of a shipped model, the path of a JSON file, a dict with the content of such a file, or a `Builder`.

In a dict numpy numbers and arrays may stand for numbers and lists, and matrices (numpy arrays, scipy.sparse matrices, lists of rows)
for the files of a flexible body of type `matrices`. Names of files are relative to the current directory."""


def models() -> list[str]:
    """Names of the shipped models, and of those in the directories of the environment variable LIEDYN_MODELS."""
    return _liedyn.model_names()


def model_file_content(model: str | os.PathLike) -> dict[str, Any]:
    """Of the JSON file with this name."""
    name = _liedyn.find_model_file(os.fspath(model))
    try:
        with open(name, encoding="utf-8") as file:
            return json.loads(without_comments(file.read()))
    except OSError as error:
        raise InputError([Diagnostic(name, 0, "", f"cannot be read: {error.strerror}")]) from None
    except json.JSONDecodeError as error:
        raise InputError([Diagnostic(name, error.lineno, "", f"expected JSON: {error.msg}")]) from None
    except UnicodeDecodeError:
        raise InputError([Diagnostic(name, 0, "", "cannot be read: it is not a text file")]) from None


def json_text(content: Mapping[str, Any]) -> str:
    """A dict as JSON; numpy numbers and arrays may stand where a file has numbers and lists."""
    findings: list[Diagnostic] = []

    def plain(value: Any, path: str) -> Any:
        if isinstance(value, Mapping):
            return {str(key): plain(item, f"{path}.{key}" if path else str(key)) for key, item in value.items()}
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value.item()
        if isinstance(value, (list, tuple, np.ndarray)):
            return [plain(item, f"{path}[{i}]") for i, item in enumerate(value)]
        if value is None or isinstance(value, (str, bool)):
            return value
        if not is_number(value):
            findings.append(Diagnostic("", 0, path, f"expected a value that JSON can contain, got {type(value).__name__}"))
        elif not math.isfinite(value):
            findings.append(Diagnostic("", 0, path, f"expected a finite number, got {value}"))
        else:
            return int(value) if isinstance(value, numbers.Integral) else float(value)
        return None

    text = json.dumps(plain(content, ""))
    if findings:
        raise InputError(findings)
    return text
