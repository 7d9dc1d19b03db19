"""The pages of the C++ library: every public symbol of the headers that `liedyn/liedyn.h` includes, as Doxygen reads them."""

from __future__ import annotations

import re
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

# Comments of the headers are plain: they become Doxygen's, above a declaration and behind one.
SETTINGS = r"""
INPUT = {source}
OUTPUT_DIRECTORY = {output}
FILE_PATTERNS = *.h
RECURSIVE = YES
INPUT_FILTER = "sed -E 's#^( *)// ?#\1/// #; s#([;,{{].*[^:])// #\1///< #'"
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
EXTRACT_ALL = YES
MARKDOWN_SUPPORT = NO
ENABLE_PREPROCESSING = NO
QUIET = YES
WARNINGS = NO
WARN_IF_DOC_ERROR = NO
"""

FOLDERS = {
    "analyses": "simulations, results, derivatives, robots",
    "io": "files: models, results, plugins",
    "model": "models in code, elements of your own",
    "integrators": "integrators of your own, the time loop",
    "system": "equations of motion, constraints, linear solvers",
    "lie": "Lie groups",
    "base": "errors, expressions, dual numbers",
}


def reachable(source: Path) -> dict[str, bool]:
    """The headers that liedyn.h includes, and those that they include; whether it names them itself."""
    headers: dict[str, bool] = {}

    def visit(name: str, direct: bool) -> None:
        if name in headers:
            return
        headers[name] = direct
        for found in re.findall(r'^#include "liedyn/(.*?)"', (source / name).read_text(encoding="utf-8"), flags=re.M):
            visit(found, name == "liedyn.h")

    top = (source / "liedyn.h").read_text(encoding="utf-8")
    direct = re.findall(r'^#include "liedyn/(.*?)"', top, flags=re.M)
    visit("liedyn.h", True)
    return {name: name in direct for name in sorted(headers) if name != "liedyn.h"}


def _plain(element: ET.Element | None) -> str:
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def _escape(text: str) -> str:
    return re.sub(r"([\\*_<>\[\]|$#~^])", r"\\\1", text.replace("`", ""))


def _comment(member: ET.Element) -> str:
    return _escape(" ".join(filter(None, (_plain(member.find("briefdescription")), _plain(member.find("detaileddescription")), _plain(member.find("inbodydescription"))))))


def _code(text: str) -> str:
    """Doxygen's spaces as in the sources: `const std::vector<double>& q`."""
    text = re.sub(r"\s+([&*]+)\s*", r"\1 ", " ".join(text.split()))
    return re.sub(r"\s+>", ">", re.sub(r"<\s+", "<", text)).strip()


def _signature(member: ET.Element) -> str:
    kind = member.get("kind")
    name = member.findtext("name") or ""
    kept = _plain(member.find("type"))
    if kind == "enum":
        values = ", ".join(value.findtext("name") or "" for value in member.iter("enumvalue"))
        return f"enum {name} {{ {values} }}"
    template = member.find("templateparamlist")
    head = ""
    if template is not None:
        head = "template <" + ", ".join(" ".join(filter(None, (_plain(p.find("type")), _plain(p.find("declname"))))) for p in template.iter("param")) + "> "
    if kind == "typedef":
        return _code(f"{head}using {name} = {kept}")
    arguments = member.findtext("argsstring") or ""
    value = _plain(member.find("initializer")) if kind == "variable" else ""
    return head + _code(f"{kept} {name}{arguments} {value}")


def _members(parent: ET.Element, sections: set[str] | None = None) -> list[str]:
    lines = []
    for section in parent.findall("sectiondef"):
        for member in section.findall("memberdef"):
            name = member.findtext("name") or ""
            if member.get("prot") != "public" or member.get("kind") not in ("function", "variable", "enum", "typedef") or name.startswith("~"):
                continue
            if "=delete" in (member.findtext("argsstring") or "") or "operator=" in name or name.startswith("@"):
                continue
            signature = _signature(member).replace("`", "")
            comment = _comment(member)
            lines.append(f"- ``{signature}``" + (f"  \n  {comment}" if comment else ""))
    return [*lines, ""] if lines else []


def pages(source: Path, output: Path) -> dict[str, str]:
    output.mkdir(parents=True, exist_ok=True)
    (output / "Doxyfile").write_text(SETTINGS.format(source=source, output=output), encoding="utf-8")
    subprocess.run(["doxygen", str(output / "Doxyfile")], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    xml = output / "xml"
    files = {}
    for compound in ET.parse(xml / "index.xml").getroot().findall("compound"):
        if compound.get("kind") == "file":
            root = ET.parse(xml / f"{compound.get('refid')}.xml").getroot().find("compounddef")
            place = root.find("location").get("file")
            files[Path(place).resolve().relative_to(source.resolve()).as_posix()] = root

    headers = reachable(source)
    texts: dict[str, list[str]] = {folder: [] for folder in FOLDERS}
    symbols = 0
    for header in sorted(headers, key=lambda name: (not headers[name], name)):
        folder = header.split("/")[0]
        root = files[header]
        opening = re.match(r"((?://.*\n)+)", (source / header).read_text(encoding="utf-8"))
        about = re.sub(r"^// ?", "", opening[1], flags=re.M).strip() if opening else ""
        prose = about.split("\n\n")[0]
        parts = [f"## {header.removeprefix(folder + '/')}\n", f"`#include <liedyn/{header}>`" + (", part of `liedyn/liedyn.h`" if headers[header] else "") + "\n"]
        if prose:
            parts.append(_escape(" ".join(prose.split())) + "\n")
        for inner in root.findall("innerclass"):
            path = xml / f"{inner.get('refid')}.xml"
            if inner.get("prot") == "private" or not path.exists():
                continue
            described = ET.parse(path).getroot().find("compounddef")
            name = (described.findtext("compoundname") or "").removeprefix("liedyn::")
            if "detail" in name or "<" in name or described.get("prot") == "private":
                continue
            members = _members(described)
            comment = _comment(described)
            if not members and not comment:
                continue
            parts.append(f"\n### {described.get('kind')} `{name}`\n")
            if comment:
                parts.append(comment + "\n")
            parts += members
            symbols += 1 + len(members[:-1])
        free = _members(root)
        if not free:
            for inner in root.findall("innernamespace"):
                if inner.text == "liedyn":
                    described = ET.parse(xml / f"{inner.get('refid')}.xml").getroot().find("compounddef")
                    for section in described.findall("sectiondef"):
                        for member in list(section):
                            if member.tag == "memberdef" and not (member.find("location").get("file") or "").endswith(header):
                                section.remove(member)
                    free = _members(described)
        if free:
            parts.append("\n### Functions and types\n")
            parts += free
            symbols += len(free[:-1])
        if folder in texts:
            texts[folder].append("\n".join(parts))
    result = {f"reference/cpp_{folder}.md": f"# C++: {folder}\n\n" + "\n".join(parts) for folder, parts in texts.items()}
    rows = "\n".join(f"- [{folder}](cpp_{folder}.md): {what}" for folder, what in FOLDERS.items())
    result["reference/cpp.md"] = (
        f"# C++\n\nThe {symbols} public symbols of the {len(headers)} headers that `#include <liedyn/liedyn.h>` gives, with the comments of the headers. "
        "They are in the namespace `liedyn`. [Use from C++](../howto/use_from_cpp.md) has complete programs.\n\n"
        f"{rows}\n\n```{{toctree}}\n:hidden:\n\n" + "\n".join(f"cpp_{folder}" for folder in FOLDERS) + "\n```\n"
    )
    return result
