// Shapes of bodies: what gives a body its mass, centre of mass and inertia, and what it looks like.
//
//   "shapes": [{"type": "box", "size": ["length", 0.1, 0.02], "density": 7800}, {"type": "sphere", "radius": 0.05, "mass": 2, "at": [0.3, 0, 0]}]
//
// A pass over the document writes mass, inertia and reference of the body, as expressions if dimensions are expressions, and takes the shapes out.
// The origin of the shapes is the reference point of the body.
#pragma once

#include <vector>

#include "liedyn/io/expand/scope.h"
#include "liedyn/model/description.h"

namespace liedyn {

// Types of shapes with their keys, for the schema, the lists and Python.
const std::vector<Kind>& shape_kinds();

// Writes out the shapes of all bodies. Returns what they look like: Visual::shape is box, sphere, cylinder, capsule, cone, tube, ellipsoid, extrusion or
// mesh. Visual::size has the edges of a box, the radii of an ellipsoid, the scale of a mesh, else radius, inner radius (tube; others: radius), length.
// Visual::mesh is the file of a mesh, as found from the current directory, or the polygon of an extrusion, [[x, y], ...].
std::vector<Visual> expand_shapes(Item& root, Scope& scope);

// The triangles of a visual of shape mesh or extrusion. Throws InputError.
struct TriangleMesh;
TriangleMesh mesh_of(const Visual& visual);

}  // namespace liedyn
