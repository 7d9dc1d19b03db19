"""python -m liedyn.report NAME DIRECTORY writes DIRECTORY/index.html."""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

from liedyn.report import demo

REPORTS = {"demo": demo.write}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m liedyn.report", description="Write a report as an HTML page.")
    parser.add_argument("name", choices=REPORTS)
    parser.add_argument("directory", type=Path, help="where index.html goes")
    arguments = parser.parse_args()
    matplotlib.use("Agg")  # nothing is shown, and there may be no screen
    arguments.directory.mkdir(parents=True, exist_ok=True)
    REPORTS[arguments.name](arguments.directory / "index.html")


if __name__ == "__main__":
    main()
