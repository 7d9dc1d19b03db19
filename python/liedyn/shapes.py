"""Shapes of bodies: `m.rigid("crank", shape=ld.rod([0, 0, 0], [0.2, 0, 0], radius=0.01), density=7800)`.

Each function gives the dict that stands in the model file. Dimensions may be expressions of parameters: mass, centre of mass and inertia then follow them.
Without `density` (of the shape or of the body) and `mass` a shape is only drawn.
"""

from __future__ import annotations

import os
from typing import Any

Shape = dict[str, Any]


def _shape(type_: str, dimensions: dict[str, Any], common: dict[str, Any]) -> Shape:
    unknown = set(common) - {"at", "rotation", "density", "mass", "color"}
    if unknown:
        raise TypeError(f"{type_}() got an unexpected keyword argument '{sorted(unknown)[0]}'")
    return {"type": type_} | dimensions | {key: value for key, value in common.items() if value is not None}


def box(size: Any, **common: Any) -> Shape:
    """A box about its origin with edges `size` along x, y and z. Also at, rotation, density, mass, color."""
    return _shape("box", {"size": size}, common)


def sphere(radius: Any, **common: Any) -> Shape:
    """A sphere about its origin. Also at, rotation, density, mass, color."""
    return _shape("sphere", {"radius": radius}, common)


def cylinder(radius: Any, length: Any, **common: Any) -> Shape:
    """A cylinder along z, its middle at the origin. Also at, rotation, density, mass, color."""
    return _shape("cylinder", {"radius": radius, "length": length}, common)


def capsule(radius: Any, length: Any, **common: Any) -> Shape:
    """A cylinder along z with half spheres at its ends; `length` is that of the cylinder. Also at, rotation, density, mass, color."""
    return _shape("capsule", {"radius": radius, "length": length}, common)


def cone(radius: Any, length: Any, **common: Any) -> Shape:
    """A cone along z: the base at -length/2, the tip at length/2. Also at, rotation, density, mass, color."""
    return _shape("cone", {"radius": radius, "length": length}, common)


def rod(start: Any, end: Any, radius: Any, **common: Any) -> Shape:
    """A cylinder from one point to another. Also at, rotation, density, mass, color."""
    return _shape("rod", {"from": start, "to": end, "radius": radius}, common)


def tube(radius: Any, inner: Any, length: Any, **common: Any) -> Shape:
    """A hollow cylinder along z, its middle at the origin. Also at, rotation, density, mass, color."""
    return _shape("tube", {"radius": radius, "inner": inner, "length": length}, common)


def ellipsoid(radii: Any, **common: Any) -> Shape:
    """An ellipsoid about its origin with half axes `radii` along x, y and z. Also at, rotation, density, mass, color."""
    return _shape("ellipsoid", {"radii": radii}, common)


def extrusion(polygon: Any, length: Any, **common: Any) -> Shape:
    """A prism along z over a polygon [[x, y], ...], from -length/2 to length/2. Also at, rotation, density, mass, color."""
    return _shape("extrusion", {"polygon": polygon, "length": length}, common)


def mesh(file: str | os.PathLike, scale: Any = None, **common: Any) -> Shape:
    """A closed surface of triangles from a file: STL, OBJ or glTF. Also at, rotation, density, mass, color."""
    dimensions = {"file": os.fspath(file)} | ({} if scale is None else {"scale": scale})
    return _shape("mesh", dimensions, common)
