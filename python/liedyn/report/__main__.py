"""liedyn report RESULT|MODEL writes a page; python -m liedyn.report demo DIRECTORY writes that of `./dev demo`."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import matplotlib

import liedyn as ld
from liedyn.report import demo, run


def parser() -> argparse.ArgumentParser:
    out = argparse.ArgumentParser(
        prog="liedyn report",
        description="Write a page about a run, one file for any browser: the moving model, what was simulated, curves, energy and constraints, "
        "steps and iterations, warnings with advice.",
        epilog="The motion is shown if the result has states: liedyn run MODEL --out FILE.h5 --states. A model is simulated first.",
    )
    out.add_argument("target", metavar="RESULT|MODEL", help="a result (.h5, .csv, .npz), a model file, or the name of a shipped model")
    out.add_argument("directory", nargs="?", help=argparse.SUPPRESS)  # of the demo
    out.add_argument("--out", metavar="FILE", type=Path, help="the page, which is overwritten if it exists; if not given NAME.html in the current folder, unless it exists")
    out.add_argument("--title", default="", help="the heading of the page")
    out.add_argument("--set", metavar="PATH=VALUE", action="append", default=[], help="a parameter of the model; may be repeated")
    for name, words in (("end", "end of the simulation [s]"), ("step", "time step [s]"), ("output-times", "output at multiples of this time [s]")):
        out.add_argument(f"--{name}", metavar="T", type=float, help=f"of a model: {words}")
    out.add_argument("--integrator", metavar="NAME[,KEY=VALUE...]", help="of a model")
    return out


def assignments(words: list[str]) -> dict[str, float]:
    out = {}
    for word in words:
        path, _, value = word.partition("=")
        try:
            out[path] = float(value)
        except ValueError:
            raise ld.InputError([ld.Diagnostic("", 0, "--set", f"expected PATH=VALUE, got '{word[:200]}'")]) from None
    return out


def write_page(given: argparse.Namespace) -> Path:
    name = given.target
    file = given.out or Path(Path(name).stem + ".html")
    if file.suffix != ".html":
        raise ld.InputError([ld.Diagnostic("", 0, "--out", f"expected a file that ends with .html, got '{str(file)[:200]}'")])
    if given.out is None and file.exists():  # perhaps the page of `liedyn run MODEL --html`
        raise ld.InputError([ld.Diagnostic(str(file), 0, "", "exists, and is not overwritten", f"name the page: --out {file}, or another one")])
    if name.endswith((".h5", ".csv", ".npz")):
        changes = [option for option in ("set", "end", "step", "output_times", "integrator") if getattr(given, option)]
        if changes:
            message = f"--{changes[0].replace('_', '-')} is for models, and {name} is a result"
            raise ld.InputError([ld.Diagnostic("", 0, "report", message)])
        run.write(ld.load_result(name), file, title=given.title, source=name)
        return file
    options = {"end": given.end, "step": given.step, "integrator": given.integrator, "output_times": given.output_times}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the page has them
        result, folder = run.of_model(name, {"set": assignments(given.set)} | options)
    with folder:
        run.write(result, file, title=given.title)
    return file


def main() -> int:
    given = parser().parse_args()
    matplotlib.use("Agg")  # nothing is shown, and there may be no screen
    if given.target == "demo" and given.directory:
        directory = Path(given.directory)
        directory.mkdir(parents=True, exist_ok=True)
        demo.write(directory / "index.html")
        return 0
    try:
        print(f"The report is in {write_page(given)}")
    except ld.InputError as error:
        for finding in error.diagnostics:
            print(f"error: {finding}", file=sys.stderr)
        return 2
    except ld.NumericalError as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
