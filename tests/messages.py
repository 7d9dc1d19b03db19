"""Which messages of the program (docs/errors.md) some test produces.

    ./dev messages               all test programs
    ./dev messages base io       these

The programs run with tests/support/said.cpp preloaded, which records the pattern of every text that is formatted, and the text of every exception. A message counts as
produced if its words, with anything in the place of its values, occur in one of these.
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE / "python" / "tests"))

import error_catalogue  # noqa: E402

PROGRAMS = ["base", "lie", "model", "system", "integrators", "analyses", "io", "registration", "end_to_end", "python"]


def main() -> int:
    build = pathlib.Path(sys.argv[1])
    names = sys.argv[2:] or PROGRAMS
    library, said = build / "said.so", build / "said.txt"
    subprocess.run(["g++", "-std=c++20", "-O1", "-shared", "-fPIC", SOURCE / "tests/support/said.cpp", "-o", library, "-ldl", "-lfmt"], check=True)
    if not sys.argv[2:]:
        said.unlink(missing_ok=True)
    environment = os.environ | {"LD_PRELOAD": str(library), "LIEDYN_SAID": str(said), "PYTHONDONTWRITEBYTECODE": "1", "MPLBACKEND": "Agg"}
    for name in names:
        if name == "python":
            command = ["/usr/bin/python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", SOURCE / "python/tests"]
            extra = {"PYTHONPATH": str(build / "python"), "PATH": f"{build / 'bin'}:{os.environ['PATH']}"}
        else:
            command, extra = [build / f"{name}_test", "--gtest_brief=1"], {}
        done = subprocess.run(command, cwd=build, env=environment | extra, capture_output=True, text=True)
        print(f"{name}: {'passed' if done.returncode == 0 else 'FAILED'}", flush=True)

    lines = sorted({error_catalogue.plain(line) for line in said.read_text(errors="replace").splitlines()})
    known = error_catalogue.messages()
    missing = []
    for message in known:
        parts = message.text.split("{}")
        pattern = re.compile(".*?".join(map(re.escape, parts)))
        longest = max(parts, key=len)  # most lines have not even this
        if not any(longest in line and pattern.search(line) for line in lines):
            missing.append(message)
    for message in missing:
        print(f"{message.file}: {message.text}")
    share = 100 * (1 - len(missing) / len(known))
    print(f"{len(known) - len(missing)} of {len(known)} messages ({share:.1f} %) are produced by a test")
    return 0


if __name__ == "__main__":
    sys.exit(main())
