"""Models and motions in 3D: pages that browsers and notebooks show."""

from __future__ import annotations

import html
import json
import os
import sys
import tempfile
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from liedyn import _liedyn
from liedyn.arguments import FILE, FLAG, NUMBER, check, is_finite, shown
from liedyn.errors import Diagnostic, InputError

if TYPE_CHECKING:
    from liedyn.compiled import Compiled


def open_in_browser(address: str) -> None:
    """Opens it, or says where it is, on machines without a browser."""
    if not webbrowser.open(address):
        print(f"There is no browser here. Open {address}", file=sys.stderr)


class Page:
    """A page that needs no other file, server or network. Notebooks show it where it is the last value of a cell."""

    _height = "32em"

    @property
    def page(self) -> str:
        """The page as a string: HTML."""
        raise NotImplementedError

    def to_html(self, file: str | os.PathLike) -> None:
        """Writes the page, whole or not at all."""
        check(file=(file, FILE))
        _liedyn.write_whole(os.fspath(file), self.page)

    def show(self) -> str:
        """Opens the page in a browser, from a temporary file, whose name this is."""
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", prefix="liedyn_", suffix=".html", delete=False) as file:
            file.write(self.page)
        open_in_browser("file://" + file.name)
        return file.name

    def _repr_html_(self) -> str:
        page = html.escape(self.page, quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: {self._height}; border: 0" allowfullscreen></iframe>'


class View(Page):
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

    def compared_with(self, other: View | str | os.PathLike) -> View:
        """Both in one page: another view, or a page or scene that was written before."""
        scenes = other._scenes if isinstance(other, View) else [_liedyn.read_scene(os.fspath(other))]
        return View(*self._scenes, *scenes)

    def __repr__(self) -> str:
        count = "" if len(self._scenes) == 1 else f", {len(self._scenes)} scenes"
        return f"<View of {self.scene['title']}{count}; .show() opens it, .to_html(file) writes it>"


class StudyView(Page):
    """The page of a study: parallel coordinates, scatter plots, histograms and a table, in which ranges select cases.

    >>> study.run("study.h5").view(scenes=5).to_html("study.html")
    """

    _height = "60em"

    def __init__(self, page: str, cases: int) -> None:
        self._page, self._cases = page, cases

    @property
    def page(self) -> str:
        """The page as a string: HTML that needs no other file, server or network."""
        return self._page

    def __repr__(self) -> str:
        return f"<StudyView of {self._cases} cases; .show() opens it, .to_html(file) writes it>"


class LiveView:
    """A page that shows a simulation while it runs, with buttons to pause, step and stop it, and sliders for parameters.

    A server of this process gives it to browsers of this machine that know the address. The simulation never waits for them, except
    where somebody presses pause. Stop in the page raises KeyboardInterrupt in the program, as Ctrl-C does.

    >>> with sim.view() as page:
    ...     print(page.address)
    ...     sim.advance(10)
    """

    def __init__(self, server: _liedyn.LiveView, closed: Callable[[], None] | None = None) -> None:
        self._server: _liedyn.LiveView | None = server
        self._closed = closed
        self._address: str = server.address

    @property
    def address(self) -> str:
        """Where the page is. Whoever knows it can steer the simulation: it contains a secret."""
        return self._address

    @property
    def pages(self) -> int:
        """How many browsers show it now."""
        return 0 if self._server is None else self._server.pages

    @property
    def stopped(self) -> bool:
        """Whether somebody pressed stop."""
        return self._server is not None and self._server.stopped

    def show(self) -> str:
        """Opens the page in a browser. Its address."""
        open_in_browser(self._address)
        return self._address

    def close(self) -> None:
        """Ends the page. The simulation goes on without it."""
        if self._server is None:
            return
        if self._closed is not None:
            self._closed()
        self._server = None

    def __enter__(self) -> LiveView:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        return f'<iframe src="{html.escape(self._address, quote=True)}" style="width: 100%; height: 38em; border: 0" allowfullscreen></iframe>'

    def __repr__(self) -> str:
        return f"<LiveView at {self._address}>" if self._server is not None else "<LiveView, closed>"


Sliders = Sequence[str] | Mapping[str, Sequence[float]]


def live_server(
    sliders: Sliders | str | None = None, pace: float = 0, paused: bool = False, *, inputs: Mapping[str, str] | None = None
) -> _liedyn.LiveView:
    """The server of a live view. `inputs` are names for paths."""
    check(pace=(pace, NUMBER), paused=(paused, FLAG))
    named = {} if inputs is None else inputs
    wanted = list(named) if sliders is None else [sliders] if isinstance(sliders, str) else sliders
    expected = 'expected names or paths of parameters, ["u"], or limits of each, {"u": (-1, 1)}'
    if not isinstance(wanted, (Mapping, list, tuple)):
        raise InputError([Diagnostic("", 0, "sliders", f"{expected}, got {shown(sliders)}")])
    rows = []
    for name in wanted:
        limits = wanted[name] if isinstance(wanted, Mapping) else (None, None)
        good = limits == (None, None) or (
            isinstance(limits, (tuple, list)) and len(limits) == 2 and all(is_finite(x) for x in limits) and limits[0] < limits[1]
        )
        if not isinstance(name, str) or not good:
            raise InputError([Diagnostic("", 0, "sliders", f"{expected}, got {shown(sliders)}")])
        low, high = (None if x is None else float(x) for x in limits)
        rows.append((name, named.get(name, name), low, high))
    return _liedyn.LiveView(float(pace), bool(paused), rows)


def announced(page: LiveView) -> LiveView:
    """Shows the page of a run that is about to start: in the notebook, in a browser if there is a screen, and as an address."""
    try:
        from IPython import get_ipython
    except ImportError:
        get_ipython = None
    if get_ipython is not None and get_ipython() is not None and get_ipython().has_trait("kernel"):
        from IPython.display import display

        display(page)
    else:
        print(f"The run is shown at {page.address}", file=sys.stderr)
        if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
            page.show()
    return page


def unpacked(array: dict[str, Any]) -> Any:
    """An array of a scene as a numpy array."""
    import numpy as np

    return np.array(_liedyn.unpack_array(json.dumps(array))).reshape(array["shape"])


def model_view(model: Compiled) -> View:
    """The model at its start. `run(scene=True).view()` shows the motion."""
    return View(_liedyn.model_scene(model._compiled, model._params, model._options({}, None)))


def recorded_view(scene: str | None, analysis: str = "run") -> View:
    """What `run`, `static` or `modes` kept."""
    if scene is None:
        message = "this result contains the values of sensors, but no poses to show"
        page = "; run(..., html=FILE) writes a page" if analysis == "run" else ""
        raise InputError([Diagnostic("", 0, "view", message, f"{analysis}(..., scene=True) records them{page}")])
    return View(scene)
