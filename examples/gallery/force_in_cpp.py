"""A force in C++: a plugin

A force element of your own is a struct with a function of 10 lines, `examples/cpp/drag.h`. Compiled as a plugin,
`examples/cpp/plugin.cpp`, the program loads it, and model files may use it like any other. Its derivatives are exact,
because the function is a template of its scalar type.

A sphere falls from rest against the drag c |v| v: z = -(m/c) ln cosh(t sqrt(g c/m)). Build the plugin against an
installed Liedyn first, with `cmake -B build -S examples/cpp && cmake --build build --target drag`; then
`LIEDYN_PLUGIN=build/libdrag.so python force_in_cpp.py`.
"""

import json
import os
import subprocess

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn import style

plugin = ["--plugin", os.environ["LIEDYN_PLUGIN"]]
mass, c, g = 0.5, 0.02, 9.81
model = {
    "liedyn": 1,
    "gravity": [0, 0, -g],
    "bodies": {
        "sphere": {
            "type": "rigid",
            "mass": mass,
            "inertia": [0.02] * 3,
            "shape": {"type": "sphere", "radius": 1, "color": "#d1641e"},
        }
    },
    "forces": {"air": {"type": "drag", "on": "sphere", "coefficient": c}},
    "sensors": {"place": {"type": "position", "of": "sphere"}},
    "simulation": {"end": 6, "step": 1e-2, "integrator": "dopri5"},
}
with open("force_in_cpp.json", "w", encoding="utf-8") as file:
    json.dump(model, file)


def liedyn(*arguments):
    return subprocess.run(["liedyn", *arguments, *plugin], check=True, text=True, capture_output=True).stdout


liedyn("run", "force_in_cpp.json", "--out", "force_in_cpp.csv", "--html", "force_in_cpp.html")
result = ld.load_result("force_in_cpp.csv")
slope = json.loads(
    liedyn(
        "sensitivity", "force_in_cpp.json", "--parameters", "forces.air.coefficient", "--outputs", "place[2]", "--json"
    )
)

a = np.sqrt(g * c / mass) * result.time
exact = -mass / c * np.log(np.cosh(a))
T = result.time[-1]
exact_slope = mass / c**2 * np.log(np.cosh(a[-1])) - mass * T / (2 * c) * np.sqrt(g / (mass * c)) * np.tanh(a[-1])
found_slope = slope["derivatives"]["place[2]"]["forces.air.coefficient"]
print(f"height after {T:g} s: {result['place[2]'][-1]:.9f} m, closed form {exact[-1]:.9f} m")
print(f"its derivative with respect to the coefficient: {found_slope:.6f}, closed form {exact_slope:.6f} m²/kg")
assert np.abs(result["place[2]"] - exact).max() < 1e-8 and abs(found_slope / exact_slope - 1) < 1e-8

plt.rcParams.update(style.settings())
figure, ax = plt.subplots(figsize=(7, 3.6))
ax.plot(result.time, result["place[2]"], label="with the plugin")
ax.plot(result.time[::40], exact[::40], "o", label="-(m/c) ln cosh(t √(g c/m))")
ax.plot(result.time, -g * result.time**2 / 2, ":", color=style.LIGHT.muted, label="without drag")
ax.set(xlabel="time / s", ylabel="height / m", ylim=(-90, 0))
ax.legend()
figure.savefig("force_in_cpp.png", dpi=150)
