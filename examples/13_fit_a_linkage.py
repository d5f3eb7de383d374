"""Find the dimensions of a four-bar linkage that draws a given curve.

The pivots of the linkage and the point that draws are parameters of the model. The target is the curve of another
four-bar, so that nothing of it need be missed; at the start points are off by 20 % of the crank in x and in y.
"""

import numpy as np

import impulsar as im
from impulsar.optimise import Linkage, fit_curve

POINTS = {"O": (0, 0), "A": (0.05, 0.0866), "B": (0.28, 0.2), "C": (0.25, 0), "P": (0.2, 0.25)}  # [m]


def four_bar(off: float) -> im.Model:
    model = im.Model("four-bar", gravity=(0, -9.81, 0))
    for k, (name, point) in enumerate(POINTS.items()):
        for axis, value in zip("xy", point, strict=True):
            model.parameter(name + axis, value + off * (-1) ** k * (name != "O"))
    crank, coupler, rocker = (model.body(name, 1.0, inertia=(1e-2,) * 3) for name in ("crank", "coupler", "rocker"))
    for name, a, b in (
        ("O", model.ground, crank),
        ("A", crank, coupler),
        ("B", coupler, rocker),
        ("C", "ground", rocker),
    ):
        model.joint(name, "revolute", a, b, at=(f"{name}x", f"{name}y", 0), axis=(0, 0, 1))
    model.probe("pen", coupler, at=("Px", "Py", 0))
    return model


angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
targets = Linkage(four_bar(0.0), "O", ("pen.position.x", "pen.position.y")).outcomes(angles)
fit = fit_curve(four_bar(0.02), "pen", targets, "O", at=angles, grashof=("O", "A", "B", "C"))
print(f"curve missed by {fit.before / fit.size:.1%} of its size before, by {fit.error:.1e} after")
