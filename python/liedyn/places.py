"""Where the parts of a model that is built in Python were given: lines of the user's program, for errors that appear later."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import NamedTuple

from liedyn.errors import Diagnostic, InputError


class Place(NamedTuple):
    """A call of the user's program."""

    file: str
    line: int
    call: str
    """ "revolute('A', ...)" """


class Places:
    """Calls by the path of what they gave: "joints.A", "joints.A.axis", "gravity"."""

    def __init__(self) -> None:
        self._calls: dict[str, Place] = {}
        self.file = ""  # that the rest of the model is from
        self.lines_known = True  # and whether lines in it are those of the model as it is

    def __setitem__(self, path: str, place: Place) -> None:
        self._calls[path] = place

    def copy(self) -> Places:
        out = Places()
        out.__dict__.update(self.__dict__, _calls=dict(self._calls))
        return out

    def forget(self, path: str) -> None:
        """What was said about this and what is in it."""
        for known in [known for known in self._calls if known == path or known.startswith(path + ".")]:
            del self._calls[known]

    def located(self, error: InputError) -> InputError:
        """The error with the lines of the user's program."""
        return type(error)([self._located(finding) for finding in error.diagnostics])

    def _located(self, finding: Diagnostic) -> Diagnostic:
        if finding.call:
            return finding
        path = finding.path.partition(":")[0]  # "joints.A: angle" is an equation of joint A
        while path:
            if path in self._calls:
                place = self._calls[path]
                entry = path.split(".")[:2]  # what the call was about; its argument is the rest
                rest = finding.path[len(".".join(entry)) :].lstrip(".: ")
                return replace(finding, file=short_name(place.file), line=place.line, call=place.call, argument=rest)
            path = re.sub(r"(\.[^.\[]*|\[[^\[]*)$|^[^.\[]*$", "", path)
        return finding if self.lines_known else replace(finding, file=self.file, line=0)


def short_name(file: str) -> str:
    """As it is seen from the current directory, if it is below."""
    try:
        below = os.path.relpath(file)
    except ValueError:  # the current directory is gone
        return file
    return file if below.startswith("..") or file.startswith("<") else below
