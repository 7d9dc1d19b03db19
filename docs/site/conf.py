"""Settings of Sphinx for the site. `docs/site/make.py` copies this file beside the pages that it prepares."""

import re

project = "Liedyn"
copyright = "the Liedyn developers"
author = "The Liedyn developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.graphviz", "sphinx.ext.mathjax", "sphinx_copybutton"]
exclude_patterns = ["files"]

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 4
myst_dmath_double_inline = True

# Equations are numbered by chapter: (5.3). MathJax is Debian's, copied into the site, and draws with SVG: no network, no fonts to load from disk.
math_number_all = True
numfig = True
math_numfig = True
math_eqref_format = "({number})"
mathjax_path = "mathjax/MathJax.js?config=TeX-AMS_SVG"
mathjax_options = {"async": "async"}
myst_update_mathjax = False  # that is for MathJax 3; `tex2jax` below is the same
mathjax2_config = {
    "tex2jax": {"processClass": "tex2jax_process|mathjax_process|math", "inlineMath": [["\\(", "\\)"]], "displayMath": [["\\[", "\\]"]]},
    "showMathMenu": False,
    "messageStyle": "none",
    "SVG": {"font": "TeX", "linebreaks": {"automatic": True}, "scale": 95},
}

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the text says what an argument may be
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
add_module_names = False
default_role = "code"

smartquotes = False
highlight_language = "none"
suppress_warnings = ["misc.highlighting_failure"]  # parts of JSON files with "..." are shown without colours
graphviz_output_format = "svg"
copybutton_prompt_text = r"\$ |>>> "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = "Liedyn"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b6e75", "color-brand-content": "#0b6e75"},
    "dark_css_variables": {"color-brand-primary": "#5cc8cf", "color-brand-content": "#5cc8cf"},
    "navigation_with_keys": True,
}


ARGUMENT = re.compile(r"^([a-z_]\w*(?:, \w+)*):\s+(\S.*)$")


def _text(line: str) -> str:
    """Outside of `code`, signs that reStructuredText would read as markup."""
    return "".join(part if part.startswith("`") else re.sub(r"([*|\\]|\b_|_\b)", r"\\\1", part) for part in re.split(r"(`[^`]*`)", line))


def read_docstring(app, what, name, obj, options, lines: list[str]) -> None:
    """Docstrings of the package are plain: paragraphs, examples that begin with >>>, arguments as "name: meaning" with indented continuation."""
    result: list[str] = []
    example = listed = False
    for line in lines:
        argument = ARGUMENT.match(line)
        if not line.strip():
            example = listed = False
            result.append("")
        elif line.lstrip().startswith((">>>", "...")):
            example = True
            result.append(line.strip())
        elif example:
            result.append(line.strip())
        elif argument:
            if not listed and result and result[-1]:
                result.append("")
            listed = True
            result += [", ".join(f"``{name}``" for name in argument[1].split(", ")), "    " + _text(argument[2])]
        elif listed:
            result.append("    " + _text(line.strip()))
        else:
            result.append(_text(line.strip()))
    lines[:] = result


def setup(app) -> None:
    app.connect("autodoc-process-docstring", read_docstring)
