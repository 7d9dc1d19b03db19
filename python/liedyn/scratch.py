"""Files for what came without one: matrices in a dict, and models where only files are read."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Union

from liedyn import _liedyn
from liedyn.matrices import has_matrices, in_files
from liedyn.model_text import with_files_from
from liedyn.source import Document, json_text


class Scratch:
    """A folder that is gone with this object, without the warning that tempfile.TemporaryDirectory gives then."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="liedyn_")
        self.originals: dict[str, str] = {}
        """The models in it, and the files that they come from (empty: none), in whose folder the files that they name must lie."""
        weakref.finalize(self, shutil.rmtree, self.name, ignore_errors=True)

    def model(self, model: Union[Mapping[str, Any], Document], number: int = 0) -> str:
        """The file of a model. Names in it are relative to where the model is from, or to the current directory."""
        file, origin = Path(self.name) / f"model{number or ''}.json", ""
        if isinstance(model, Document):
            model.save(file)
            origin = model._places().file
        else:
            content = with_files_from(model, Path.cwd(), file.parent)
            file.write_text(json_text(in_files(content, self.name, prefix=file.stem) if has_matrices(content) else content), encoding="utf-8")
        self.originals[str(file)] = origin
        _liedyn.stands_for(str(file), origin)
        return str(file)
