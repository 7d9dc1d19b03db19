"""Integrators compared

Which error does an integrator make with a given step? `converge` runs several methods with several steps and compares
them with a fine reference solution. The mechanism is the spatial slider-crank of the IFToMM benchmarks, a closed
loop.

The slopes are known from theory. Generalized-alpha and LMS2 have order two, and the explicit method of Dormand and
Prince with projection has order five. ESDIRK4(3)6L has order four for equations without constraints; its stage order
of two limits it to order two with constraints on positions (index 3), and to order three with those on velocities
(index 2).
"""

import matplotlib.pyplot as plt

import liedyn as ld
from liedyn import style

expected = {"generalized-alpha,rho=0.9": 2, "lms2,rho=0.6": 2, "esdirk4-6": 2, "esdirk4-6,index=2": 3, "dopri5": 5}
study = ld.converge(
    "slider_crank", integrators=list(expected), steps=[4e-3, 2e-3, 1e-3, 5e-4], end=0.4, reference="dopri5@1e-4"
)
plt.rcParams.update(style.settings())
figure, ax = plt.subplots(figsize=(8.5, 4))
for case, (integrator, order), marker in zip(study.cases, expected.items(), "osD^v"):
    errors, found = study.errors(case), study.order(case)
    print(f"{integrator:26} order {found:.2f}, expected {order}; error with 0.5 ms {errors[-1]:.1e}")
    assert abs(found - order) < 0.1
    ax.loglog(study.steps(case), errors, marker=marker, label=f"{integrator}: {found:.2f}")
ld.run("slider_crank", end=3, html="compare_integrators.html", frames=600)
ax.set(xlabel="step", ylabel="largest relative error of positions in 0.4 s")
ax.legend(title="order", loc="center left", bbox_to_anchor=(1, 0.5))
ax.set_xticks([5e-4, 1e-3, 2e-3, 4e-3], ["0.5 ms", "1 ms", "2 ms", "4 ms"])
ax.minorticks_off()
figure.savefig("compare_integrators.png", dpi=150)
