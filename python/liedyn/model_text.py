"""The text of model files: read into dicts, written from them."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from liedyn import _liedyn, matrices
from liedyn.comments import without_comments
from liedyn.errors import Diagnostic, InputError
from liedyn.values import described

_SECTIONS = tuple(_liedyn.elements())


def parsed(text: str, file: str) -> dict[str, Any]:
    """The content of a model file, whose name is for messages. Raises InputError."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for key, value in pairs:
            if key in out:
                raise InputError([Diagnostic(file, 0, key, "is given twice in the same object")])
            out[key] = value
        return out

    def number(text: str) -> float:
        value = float(text)
        if not math.isfinite(value):
            raise InputError([Diagnostic(file, 0, "", f"expected a finite number, got {text[:40]}")])
        return value

    try:
        content = json.loads(without_comments(text), object_pairs_hook=once, parse_float=number, parse_constant=number)
    except json.JSONDecodeError as error:
        hint = "ld.load(file) gives a Builder of a robot (.urdf)" if file.endswith(".urdf") else ""
        raise InputError([Diagnostic(file, error.lineno, "", f"expected JSON: {error.msg}", hint)]) from None
    except RecursionError:
        raise InputError([Diagnostic(file, 0, "", "is nested too deeply")]) from None
    except InputError:
        raise
    except ValueError:  # whole numbers of thousands of digits
        raise InputError([Diagnostic(file, 0, "", "expected numbers of at most 4300 digits")]) from None
    if not isinstance(content, dict):
        raise InputError([Diagnostic(file, 0, "", f"expected an object, got {described(content)}")])
    return content


def written(content: Mapping[str, Any]) -> str:
    """A model file with one entry per line."""

    def text(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False)

    parts = []
    for key, value in content.items():
        if key in ("tables", *_SECTIONS) and isinstance(value, dict) and value:
            entries = ",\n    ".join(f"{text(name)}: {text(entry)}" for name, entry in value.items())
            parts.append(f"{text(key)}: {{\n    {entries} }}")
        else:
            parts.append(f"{text(key)}: {text(value)}")
    return "{ " + ",\n  ".join(parts) + " }"


def with_files_from(content: Mapping[str, Any], here: Path, there: Path) -> dict[str, Any]:
    """The model with names of files that are right from another folder: of tables, meshes, matrices and sub-models."""

    def moved(name: Any) -> Any:
        if not isinstance(name, str) or os.path.isabs(name):
            return name
        return os.path.relpath(here / name, there)

    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            names_file = {"table"} | ({"file"} if value.get("type") == "mesh" else set())  # functions of time, shapes
            return {key: moved(item) if key in names_file and isinstance(item, str) else walk(item) for key, item in value.items()}
        return [walk(item) for item in value] if isinstance(value, list) else value

    # Models in the model: files are named in them, or beside a file.
    models = content.get("models", {})
    inner = {key: value for key, value in content.items() if key != "models"}
    out = {key: walk(value) for key, value in inner.items()}
    if isinstance(models, dict) and models:
        out["models"] = {}
        for name, entry in models.items():
            if isinstance(entry, dict):
                entry = entry | ({"file": moved(entry["file"])} if "file" in entry else {})
                if isinstance(entry.get("model"), dict):
                    entry["model"] = with_files_from(entry["model"], here, there)
            out["models"][name] = entry
    for section, keys in (("tables", ("file",)), ("flexible", ("file", *matrices.KEYS))):
        for entry in out.get(section, {}).values():
            if isinstance(entry, dict):
                entry |= {key: moved(entry[key]) for key in keys if key in entry}
    return out
