"""Programs with one mistake each, at the line that docs/howto/build_in_python.md names: prints what each of them ends with."""

import liedyn as ld

BEFORE = """
import liedyn as ld
m = ld.Builder()
crank = m.rigid("crank", mass=1, inertia=[1, 1, 1])
rod = m.rigid("rod", mass=1, inertia=[1, 1, 1], position=[1, 0, 0])
angle = m.joint_angle("angle", m.revolute("hinge", m.ground, rod, at=[0, 0, 0], axis=[0, 0, 1]))
"""
MISTAKES = [
    (12, 'm.revolute("A", m.ground, crank, at=[0, 0, 0], axis=[1, 0])'),
    (12, 'm.revolute("A", m.ground, crank, at=[0, 0, 0], axis=[1, 0, 0], axes=[1, 0, 0])'),
    (14, 'm.spherical("B", crank, "rdo", at=[0, 0, 0]); m.compile()'),
    (20, "if angle > 0: pass"),
]

for line, statement in MISTAKES:
    text = BEFORE + "\n" * (line - 1 - BEFORE.count("\n")) + statement
    try:
        exec(compile(text, "model.py", "exec"), {})  # noqa: S102
    except ld.InputError as error:
        print(error)
