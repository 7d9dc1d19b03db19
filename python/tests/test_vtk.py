"""Deformed shapes for ParaView: what the files hold, beside sensors."""

import json
import re
import subprocess
import xml.etree.ElementTree as xml

import numpy as np
import pytest

import liedyn as ld

TYPES = {"Float64": np.float64, "Int64": np.int64, "Int32": np.int32, "UInt8": np.uint8}

MODEL = {
    "liedyn": 1,
    "gravity": [0, 0, -9.81],
    "bodies": {"pod": {"type": "rigid", "mass": 0.5, "inertia": [1e-3, 1e-3, 1e-3], "position": [1, 0, 0]}},
    "beams": {
        "wing": {"type": "circle", "from": [1, 0, 0], "to": [1, 1, 0], "elements": 3, "radius": 0.01, "young": 7e10, "density": 2700}
    },
    "flexible": {
        "arm": {
            "type": "brick", "size": [1, 0.05, 0.02], "divisions": [10, 2, 2], "position": [0.5, 0, 0],
            "young": 70e9, "poisson": 0.33, "density": 2700, "modes": 6,
        },
        "root": {"type": "interface", "of": "arm", "at": [0, 0, 0], "group": "x-"},
        "tip": {"type": "interface", "of": "arm", "at": [1, 0, 0], "group": "x+"},
    },
    "joints": {
        "hinge": {"type": "revolute", "between": ["ground", "root"], "at": [0, 0, 0], "axis": [0, 1, 0]},
        "seat": {"type": "fixed", "between": ["tip", "pod"], "at": [1, 0, 0]},
        "weld": {"type": "fixed", "between": ["pod", "wing.start"], "at": [1, 0, 0]},
    },
    "sensors": {
        "corner": {"type": "material_position", "of": "arm", "at": [0.3, 0.025, 0.01]},
        "moved": {"type": "elastic_displacement", "of": "arm", "at": [0.3, 0.025, 0.01], "axes": "inertial"},
        "stress": {"type": "stress", "of": "arm", "at": [0.25, 0.0125, 0.005]},
        "pod": {"type": "velocity", "of": "pod"},
        "end": {"type": "position", "of": "wing.end"},
    },
    "simulation": {"end": 0.02, "step": 1e-3, "integrator": "generalized-alpha,rho=0.8"},
}  # fmt: skip


def read(path):
    """Arrays of a .vtu file by name."""
    content = path.read_bytes()
    head, data = content.split(b'<AppendedData encoding="raw">\n_', 1)
    root = xml.fromstring(head + b"</VTKFile>")
    out = {"points": int(root[0][0].attrib["NumberOfPoints"]), "cells": int(root[0][0].attrib["NumberOfCells"])}
    for array in root.iter("DataArray"):
        at = int(array.attrib["offset"])
        size = int(np.frombuffer(data, np.uint64, 1, at)[0])
        kind = TYPES[array.attrib["type"]]
        values = np.frombuffer(data, kind, size // np.dtype(kind).itemsize, at + 8)
        components = int(array.attrib["NumberOfComponents"])
        out[array.attrib["Name"]] = values.reshape(-1, components) if components > 1 else values
    return out


@pytest.mark.parametrize("formulation", ["r3so3", "se3", "minimal", "auto"])
def test_shapes_are_what_sensors_show(tmp_path, formulation):
    result = ld.run(MODEL, formulation=formulation, vtk=tmp_path, output_every=10)
    times = re.findall(r'timestep="([^"]*)" file="([^"]*)"', next(tmp_path.glob("*.pvd")).read_text())
    assert [float(t) for t, _ in times] == pytest.approx(list(result.time), abs=1e-12)
    for row, (_, name) in enumerate(times):
        shape = read(tmp_path / name)
        # The pod, four nodes of the wing, 11 x 3 x 3 nodes of the arm; the pod, three elements, 40 elements.
        assert shape["points"] == len(shape["Points"]) == 1 + 4 + 99
        assert shape["cells"] == len(shape["types"]) == len(shape["von_mises_stress"]) == 1 + 3 + 40
        assert sorted(set(shape["types"])) == [1, 3, 12]
        assert shape["offsets"][-1] == len(shape["connectivity"]) == 1 + 3 * 2 + 40 * 8
        distance = np.linalg.norm(shape["Points"] - result["corner"][row], axis=1)
        node = int(np.argmin(distance))
        assert distance[node] < 1e-12
        np.testing.assert_allclose(shape["elastic_displacement"][node], result["moved"][row], atol=1e-14)
        assert np.linalg.norm(shape["Points"] - result["end"][row], axis=1).min() < 1e-12
        np.testing.assert_allclose(shape["velocity"][0], result["pod"][row], atol=1e-12)
        # The sensor is in the middle of an element.
        stress = result["stress"][row]
        cell = int(np.argmin(np.linalg.norm(shape["stress"] - stress, axis=1)))
        np.testing.assert_allclose(shape["stress"][cell], stress, rtol=1e-9, atol=1e-3)
        xx, yy, zz, yz, xz, xy = stress
        mises = np.sqrt(((xx - yy) ** 2 + (yy - zz) ** 2 + (zz - xx) ** 2) / 2 + 3 * (yz**2 + xz**2 + xy**2))
        assert shape["von_mises_stress"][cell] == pytest.approx(mises, rel=1e-9, abs=1e-3)
    assert np.abs(shape["stress"]).max() > 1e4  # it bends under its weight


def test_mode_shapes_are_those_of_a_cantilever(tmp_path):
    """First bending of a clamped bar of bricks: cosh - cos - 0.7341 (sinh - sin) of 1.8751 x."""
    model = {**MODEL, "bodies": {}, "beams": {}, "sensors": {}, "joints": {"clamp": {**MODEL["joints"]["hinge"], "type": "fixed"}}}
    del model["joints"]["clamp"]["axis"]
    model["flexible"] = {**MODEL["flexible"], "arm": {**MODEL["flexible"]["arm"], "divisions": [20, 2, 2], "poisson": 0}}
    (tmp_path / "bar.json").write_text(json.dumps(model))
    subprocess.run(["liedyn", "modes", tmp_path / "bar.json", "--count", "2", "--vtk", tmp_path / "shapes"], check=True)
    first, second = (read(tmp_path / "shapes" / f"bar_mode000{i}.vtu") for i in (1, 2))
    assert "bar_mode0002.vtu" in (tmp_path / "shapes" / "bar.pvd").read_text()
    for shape, axis in ((first, 2), (second, 1)):  # the flat way, then the other
        x, k = shape["Points"][:, 0], 1.87510407
        bent = np.cosh(k * x) - np.cos(k * x) - 0.734095514 * (np.sinh(k * x) - np.sin(k * x))
        found = shape["shape"][:, axis]
        found = found * np.sign(found[np.argmax(np.abs(found))])
        np.testing.assert_allclose(found / found.max(), bent / bent.max(), atol=5e-3)
        assert np.abs(shape["shape_imaginary"]).max() < 1e-9
        assert np.linalg.norm(shape["shape"], axis=1).max() == pytest.approx(0.1 * np.linalg.norm([1, 0.05, 0.02]), rel=1e-6)


def test_a_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ld.InputError, match="expected a folder"):
        ld.run(MODEL, vtk=tmp_path / "file")
