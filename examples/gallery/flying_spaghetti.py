"""Flying spaghetti

A free flexible rod is thrown by a force and a torque at its lower end for 2.5 s, and then flies with large
deformations (Simo and Vu-Quoc, J. Appl. Mech. 53, 1986).

The shape has no closed form, but the throw has exact balances. The impulse 8 x 2.5 = 20 gives the mass 10 the
velocity 2, whatever the deformation. The force ends within a step, of which half is lost: 1.998 with steps of 5 ms.
After the release the energy is constant. Quantities have no units, as in the paper.
"""

import matplotlib.pyplot as plt
import numpy as np

import liedyn as ld
from liedyn import style

m = ld.Builder.from_json("flying_spaghetti")
rod, elements = m.beams["rod"], m.beams["rod"].fields["elements"]
nodes = [rod.start, *(rod.node(i) for i in range(1, elements)), rod.end]
for i, node in enumerate(nodes):
    m.position(f"p{i}", node)
    m.velocity(f"v{i}", node)
result = ld.run(m, end=9, step=5e-3, integrator="generalized-alpha,rho=0.95", html="flying_spaghetti.html", frames=450)

# A rod of equal elements: the end nodes carry half of an element each. This leaves out how elements bend between their
# nodes; on average it cancels.
weights = np.array([0.5, *np.ones(elements - 1), 0.5]) / elements
center_velocity = sum(w * result[f"v{i}"] for i, w in enumerate(weights))
free = result.time > 2.6
mean = center_velocity[free].mean(axis=0)
drift = np.ptp(result["energy"][free]) / result["energy"][-1]
print(f"velocity of the centre of mass after the release: {mean[0]:.4f}, impulse/mass = 2")
print(f"energy after the release changes by {drift:.1e} of its value")
assert np.abs(mean - [2, 0, 0]).max() < 3e-3 and drift < 1e-4

plt.rcParams.update(style.settings())
figure, ax = plt.subplots(figsize=(9, 3.8))
for t in (0, 1, 2, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5):
    row = np.argmin(np.abs(result.time - t))
    shape = np.array([result[f"p{i}"][row] for i in range(elements + 1)])
    ax.plot(shape[:, 0], shape[:, 1], color=style.LIGHT.series[0 if t <= 2.5 else 1], linewidth=2)
    ax.annotate(f"{t:g}", shape[-1, :2], textcoords="offset points", xytext=(3, 3), fontsize=8, color=style.LIGHT.muted)
ax.set(
    xlabel="x",
    ylabel="y",
    aspect="equal",
    title="shapes with their times; blue: force and torque act, orange: free flight",
    xmargin=0.02,
)
figure.savefig("flying_spaghetti.png", dpi=150)
