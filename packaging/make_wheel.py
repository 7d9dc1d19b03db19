"""Makes a wheel from a finished build, with the standard library alone.

    python3 packaging/make_wheel.py BUILD_DIRECTORY OUTPUT_DIRECTORY

The result has the content that `pip install .` gives with scikit-build-core, which Debian 12 does not have. Metadata are read
from pyproject.toml.
"""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import zipfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent


def metadata(project: dict, version: str) -> str:
    """Core metadata 2.1: headers, then the README."""
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {version}", f"Summary: {project['description']}"]
    lines += [f"Classifier: {classifier}" for classifier in project["classifiers"]]
    lines += [f"Requires-Python: {project['requires-python']}"]
    lines += [f"Requires-Dist: {dependency}" for dependency in project["dependencies"]]
    for extra, dependencies in project["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}"] + [f'Requires-Dist: {dependency}; extra == "{extra}"' for dependency in dependencies]
    lines += ["Description-Content-Type: text/markdown", "", (SOURCE / project["readme"]).read_text(encoding="utf-8")]
    return "\n".join(lines)


def installed_files(build: Path, prefix: Path, data: str) -> dict[str, Path]:
    """What the components `program` and `python` install, by name in the wheel: package at the top, the rest below `data`."""
    for component in ("program", "python"):
        subprocess.run(
            ["cmake", "--install", build, "--prefix", prefix, "--strip", "--component", component], check=True, stdout=subprocess.DEVNULL
        )
    module = next(prefix.rglob("_liedyn.*.so"), None)
    if module is None:
        sys.exit(f"{build} has no Python module\nBuild with LIEDYN_PYTHON=ON, or use: ./dev wheel")
    packages = module.parent.parent
    files = {}
    for file in sorted(path for path in prefix.rglob("*") if path.is_file()):
        name = file.relative_to(prefix)
        if file.is_relative_to(packages):
            files[file.relative_to(packages).as_posix()] = file
        elif name.parts[0] == "bin":
            files[f"{data}/scripts/{name.name}"] = file
        elif name.parts[:2] in (("share", "liedyn"), ("share", "bash-completion")):
            files[f"{data}/data/{name.as_posix()}"] = file
    return files


def main(build: Path, output: Path) -> None:
    settings = tomllib.loads((SOURCE / "pyproject.toml").read_text(encoding="utf-8"))
    project = settings["project"]
    source_of_version = settings["tool"]["scikit-build"]["metadata"]["version"]
    version = re.search(source_of_version["regex"], (SOURCE / source_of_version["input"]).read_text(encoding="utf-8"))["value"]
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    if "LIEDYN_NATIVE:BOOL=OFF" not in cache and "LIEDYN_NATIVE:BOOL=FALSE" not in cache:
        sys.exit(f"{build} is compiled for the processor of this machine only (LIEDYN_NATIVE is ON)\nUse: ./dev wheel")

    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    tag = f"{python}-{python}-{re.sub('[-.]', '_', sysconfig.get_platform())}"
    stem = f"{project['name']}-{version}"
    info = f"{stem}.dist-info"
    output.mkdir(parents=True, exist_ok=True)
    wheel = output / f"{stem}-{tag}.whl"
    with tempfile.TemporaryDirectory() as prefix, zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        record = []

        def add(name: str, content: bytes, executable: bool = False) -> None:
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            archive.writestr(entry, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(content)}")

        for name, file in installed_files(build, Path(prefix), f"{stem}.data").items():
            add(name, file.read_bytes(), executable=bool(file.stat().st_mode & 0o100))
        add(f"{info}/METADATA", metadata(project, version).encode())
        add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: liedyn\nRoot-Is-Purelib: false\nTag: {tag}\n".encode())
        add(f"{info}/licenses/LICENSE", (SOURCE / "LICENSE").read_bytes())
        archive.writestr(f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,", ""]))
    print(wheel)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
