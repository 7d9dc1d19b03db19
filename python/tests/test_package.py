"""The package as a whole: imports without circles, signatures, documentation, what notebooks use."""

import ast
import gc
import graphlib
import inspect
import json
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import liedyn as ld
from test_flexible_matrices import truss

PACKAGE = Path(ld.__file__).resolve().parent


def imported_modules(file: Path) -> set[str]:
    """Modules of the package that a file imports, at its top or inside functions, also for type checkers only."""
    known = {path.stem for path in PACKAGE.glob("*.py")} | {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "liedyn":
            rest = node.module.split(".")[1:]
            found |= {rest[0]} if rest else {alias.name for alias in node.names}
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("liedyn.")}
    return found & known


def test_modules_import_each_other_without_circles():
    graph = {file.stem: imported_modules(file) for file in PACKAGE.glob("*.py") if file.stem != "__init__"}
    assert graph["model"] >= {"compiled", "simulation"}, "the imports are not found"
    list(graphlib.TopologicalSorter(graph).static_order())  # raises CycleError


ANALYSES = ["run", "kinematics", "sensitivity", "sweep", "static", "modes", "linearize", "assemble", "gradient"]


@pytest.mark.parametrize("name", ANALYSES)
def test_analyses_are_functions_and_methods_with_their_real_signatures(name):
    function, method = getattr(ld, name), getattr(ld.Model, name)
    assert inspect.signature(function) == inspect.signature(method)
    kinds = {parameter.kind for parameter in inspect.signature(function).parameters.values()}
    assert inspect.Parameter.VAR_KEYWORD not in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds
    assert {"model", "formulation", "set"} <= set(inspect.signature(function).parameters)
    assert inspect.getdoc(method) == inspect.getdoc(function)


@pytest.mark.parametrize("name", ld.__all__)
def test_everything_is_documented(name):
    assert inspect.getdoc(getattr(ld, name))


def test_start_is_a_time_everywhere_and_from_a_configuration():
    for name in ANALYSES:
        parameters = inspect.signature(getattr(ld, name)).parameters
        assert "from_" in parameters, name
        if "start" in parameters:
            assert "float" in parameters["start"].annotation, name
    late = ld.run("heavy_top", start=0.5, end=0.6)
    assert late.time[0] == 0.5 and late.time[-1] == 0.6
    assert late.summary["start"] == 0.5
    early = ld.run("heavy_top", end=0.1)
    np.testing.assert_allclose(late["position"], early["position"], atol=1e-9)


def test_threads_and_solvers_give_the_same_motion():
    default = ld.run("heavy_top", end=0.05)
    np.testing.assert_array_equal(ld.run("heavy_top", end=0.05, threads=2).table, default.table)
    for solver in ("dense", "klu"):
        other = ld.run("heavy_top", end=0.05, solver=solver)
        assert other.summary["solver"] == solver
        np.testing.assert_allclose(other["position"], default["position"], atol=1e-10)


def test_all_that_moves_is_recorded_on_request(falling_point):
    falling_point["sensors"] = {}
    stone = ld.Model(falling_point, set={"height": 20}).changed({"bodies.stone.mass": 4})
    for result in (stone.run(record="all"), ld.sweep(stone, [{}], record="all")[0]):
        np.testing.assert_allclose(result["stone.position"][-1], [0, 0, 20 - 9.81 / 2], rtol=1e-12)
        np.testing.assert_allclose(result["stone.velocity[2]"][-1], -9.81, rtol=1e-12)
    assert not stone.units, "the model itself stays as it was"
    with pytest.raises(ld.InputError, match='record: expected "all", got'):
        stone.run(record="some")


def test_methods_give_what_functions_give():
    pendulum = ld.Model("pendulum")
    rest = pendulum.static()
    np.testing.assert_array_equal(rest["position"], ld.static("pendulum")["position"])
    np.testing.assert_array_equal(pendulum.modes(from_=rest).eigenvalues, ld.modes("pendulum", from_=rest).eigenvalues)
    np.testing.assert_array_equal(pendulum.linearize(from_=rest).A, ld.linearize("pendulum", from_=rest).A)
    assert pendulum.assemble()["position"] == pytest.approx(ld.assemble("pendulum")["position"])


@pytest.mark.parametrize("source", ["name", "file", "dict", "changed", "generated"])
def test_a_model_is_the_same_after_a_pickle(source, tmp_path):
    if source == "generated":
        model = ld.Model("chain", set={"links": 3}, formulation="se3")
    elif source == "file":
        (tmp_path / "top.json").write_text(Path(ld._liedyn.find_model_file("heavy_top")).read_text())
        model = ld.Model(tmp_path / "top.json")
    elif source == "dict":
        model = ld.Model(ld.load("heavy_top"), set={"spin": 90, "bodies.top.mass": 12})
    else:
        model = ld.Model("heavy_top", set={"spin": 70})
    if source == "changed":
        model = model.changed({"bodies.top.mass": 3})
    data = pickle.dumps(model)
    if source == "file":
        (tmp_path / "top.json").unlink()  # the pickle holds the text
    copy = pickle.loads(data)
    assert type(copy) is ld.Model
    assert (copy.name, copy.formulation, dict(copy.parameters)) == (model.name, model.formulation, dict(model.parameters))
    one, other = model.run(end=0.02), copy.run(end=0.02)
    np.testing.assert_array_equal(one.table, other.table)
    assert one.summary["set"] == other.summary["set"]
    assert pickle.loads(pickle.dumps(copy)).run(end=0.02).table.tobytes() == one.table.tobytes()


def test_a_pickle_finds_its_tables_from_another_directory(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "table.csv").write_text("0,1\n1,3\n2,2\n")
    model = {"liedyn": 1, "tables": {"T": {"file": "table.csv"}}, "bodies": {"b": {"type": "point", "mass": 1}}}
    model |= {"forces": {"f": {"type": "force", "on": "b", "force": ["T(t)", 0, 0]}}, "sensors": {"x": {"type": "position", "of": "b"}}}
    (tmp_path / "m.json").write_text(json.dumps(model | {"simulation": {"end": 1, "step": 0.01}}))
    monkeypatch.chdir(tmp_path)
    read = ld.Model("m.json")
    stored = pickle.dumps(read)
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert (pickle.loads(stored).run()["x"] == read.run()["x"]).all()


def test_matrices_of_a_dict_survive_changes_and_pickles():
    """They are in files that a model deletes with itself; copies of the model must not need those."""
    mass, stiffness, nodes = truss()
    body = {"type": "matrices", "method": "free", "modes": 6, "mass_matrix": mass, "stiffness_matrix": stiffness, "nodes": nodes}
    first = ld.Model({
        "liedyn": 1, "gravity": [0, 0, -9.81], "flexible": {"truss": body},
        "sensors": {"energy": {"type": "energy"}, "place": {"type": "position", "of": "truss"}},
        "simulation": {"end": 0.01, "step": 1e-3},
    })
    changed, copy = first.changed({"gravity[2]": -5}), pickle.loads(pickle.dumps(first))
    alone = first.run().table
    del first
    gc.collect()
    np.testing.assert_array_equal(copy.run().table, alone)
    # Compiled anew, from the files.
    np.testing.assert_array_equal(changed.run(formulation="se3").table, copy.run(formulation="se3", set={"gravity[2]": -5}).table)
    assert changed.run(formulation="se3")["place"][-1, 2] == pytest.approx(-5 * 0.01**2 / 2)


@pytest.mark.parametrize("name", ["result", "modes", "space", "rest", "assembled", "sensitivity", "study", "methods", "parameters", "sweep", "model"])
def test_what_is_printed_is_a_table_as_text_and_as_html(name, heavy_top):
    shown = {
        "result": lambda: heavy_top,
        "modes": lambda: ld.modes("pendulum", at="static"),
        "space": lambda: ld.linearize("pendulum", from_=ld.static("pendulum")),
        "rest": lambda: ld.static("pendulum"),
        "assembled": lambda: ld.assemble("pendulum"),
        "sensitivity": lambda: ld.sensitivity("heavy_top", ["bodies.top.mass"], end=0.01),
        "study": lambda: ld.converge("heavy_top", steps=[2e-3, 1e-3], end=0.02),
        "methods": lambda: ld.analyze_integrator(["rk44", "lms2,rho=0.6"]),
        "parameters": lambda: ld.Model("heavy_top").parameters,
        "model": lambda: ld.Model("heavy_top", set={"spin": 33}),
        "sweep": lambda: ld.sweep("heavy_top", [{"spin": 10}, {"spin": 20}], end=0.01),
    }[name]()
    text, page = str(shown), shown._repr_html_()
    assert "\n" in text and "\n" not in repr(shown)
    assert max(map(len, text.splitlines())) < 200
    assert page.count("<table>") == page.count("</table>") >= 1
    for word in {"result": ["position", "m/s", "constraint residual"], "modes": ["frequency / Hz", "100 %"], "rest": ["stable", "J"], "model": ["spin", "33", "generalized-alpha", "position"]}.get(name, []):
        assert word in text and word in page


def test_the_code_of_the_how_to_runs(tmp_path, monkeypatch):
    page = Path(__file__).resolve().parents[2] / "docs" / "howto" / "use_from_python.md"
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 6
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ld.NumericalWarning)
        for block in blocks:
            exec(compile(block, page.name, "exec"), names)
    assert (tmp_path / "top.png").exists()
    assert not names["found"].failures and len(names["found"]) == 12


def test_auto_chooses_for_the_motion_of_the_start_that_is_given(tmp_path):
    """A body at rest and one that spins get different formulations; a start from a configuration counts, not that of the model."""

    def top(spin):
        return {
            "liedyn": 1,
            "bodies": {"top": {"type": "rigid", "mass": 1, "inertia": [0.1, 0.2, 0.3], "position": [0, 0, 0], "angular_velocity": spin}},
            "joints": {"ball": {"type": "spherical", "between": ["ground", "top"], "at": [0, 0, 0]}},
            "sensors": {"w": {"type": "angular_velocity", "of": "top"}},
            "simulation": {"end": 0.05, "step": 1e-3, "formulation": "auto"},
        }

    spin = [0.1, 80, 0.1]
    at_rest, spinning = ld.run(top([0, 0, 0])), ld.run(top(spin))
    started = ld.run(top([0, 0, 0]), from_={"bodies": {"top": {"angular_velocity": spin}}})
    assert at_rest.summary["formulation"] != spinning.summary["formulation"]
    assert started.summary["formulation"] == spinning.summary["formulation"]
    np.testing.assert_allclose(started["w"], spinning["w"], rtol=0, atol=1e-12 * 80)
