"""Models and motions in 3D: pages that browsers and notebooks show."""

from __future__ import annotations

import html
import json
import os
import tempfile
import webbrowser
from functools import cached_property
from typing import TYPE_CHECKING, Any

from liedyn import _liedyn
from liedyn.arguments import FILE, check
from liedyn.errors import Diagnostic, InputError

if TYPE_CHECKING:
    from liedyn.compiled import Compiled


class View:
    """What a page shows in 3D: one scene, or several to compare. Notebooks show it where it is the last value of a cell.

    >>> ld.run("heavy_top", scene=True).view().to_html("top.html")
    """

    def __init__(self, *scenes: str) -> None:
        self._scenes = list(scenes)

    @cached_property
    def scene(self) -> dict[str, Any]:
        """The (first) scene: bodies with shapes, joints, poses and sensors over time. Arrays are packed; `unpacked` reads them."""
        return json.loads(self._scenes[0])

    @property
    def page(self) -> str:
        """The page as a string: HTML that needs no other file, server or network."""
        return _liedyn.scene_page(self._scenes)

    def to_html(self, file: str | os.PathLike) -> None:
        """Writes the page, whole or not at all."""
        check(file=(file, FILE))
        _liedyn.write_whole(os.fspath(file), self.page)

    def compared_with(self, other: View | str | os.PathLike) -> View:
        """Both in one page: another view, or a page or scene that was written before."""
        scenes = other._scenes if isinstance(other, View) else [_liedyn.read_scene(os.fspath(other))]
        return View(*self._scenes, *scenes)

    def show(self) -> str:
        """Opens the page in a browser, from a temporary file, whose name this is."""
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", prefix="liedyn_", suffix=".html", delete=False) as file:
            file.write(self.page)
        webbrowser.open("file://" + file.name)
        return file.name

    def _repr_html_(self) -> str:
        page = html.escape(self.page, quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 32em; border: 0" allowfullscreen></iframe>'

    def __repr__(self) -> str:
        count = "" if len(self._scenes) == 1 else f", {len(self._scenes)} scenes"
        return f"<View of {self.scene['title']}{count}; .show() opens it, .to_html(file) writes it>"


def unpacked(array: dict[str, Any]) -> Any:
    """An array of a scene as a numpy array."""
    import numpy as np

    return np.array(_liedyn.unpack_array(json.dumps(array))).reshape(array["shape"])


def model_view(model: Compiled) -> View:
    """The model at its start. `run(scene=True).view()` shows the motion."""
    return View(_liedyn.model_scene(model._compiled, model._params, model._options({}, None)))


def recorded_view(scene: str | None) -> View:
    if scene is None:
        message = "this result holds what the sensors recorded, and no poses to show"
        raise InputError([Diagnostic("", 0, "view", message, "run(..., scene=True) keeps them; run(..., html=FILE) writes a page")])
    return View(scene)
