"""n-four-bar (IFToMM benchmark A02)."""

from ..author.errors import ModelError
from ..author.model import Model
from .parts import rod


def build(n: int = 2) -> Model:
    """n four-bars side by side, uprights vertical, the first top point at +1 m/s (IFToMM A02)."""
    if not (isinstance(n, int) and n >= 1):
        raise ModelError(f"scene 'n-four-bar': n is {n!r}, expected an integer >= 1")
    model = Model(f"{n} four-bars", gravity=(0.0, -9.81, 0.0))
    uprights = [
        rod(model, f"upright{k}", (k, 0, 0), (k, 1, 0), 1.0, velocity=(0.5, 0, 0), spin=(0, 0, -1.0))
        for k in range(n + 1)
    ]
    for k, upright in enumerate(uprights):
        model.joint(f"base{k}", "revolute", model.ground, upright, at=(k, 0, 0), axis=(0, 0, 1))
    for k in range(n):
        top = rod(model, f"top{k + 1}", (k, 1, 0), (k + 1, 1, 0), 1.0, velocity=(1.0, 0, 0))
        model.joint(f"left{k + 1}", "revolute", uprights[k], top, at=(k, 1, 0), axis=(0, 0, 1))
        model.joint(f"right{k + 1}", "revolute", uprights[k + 1], top, at=(k + 1, 1, 0), axis=(0, 0, 1))
    model.probe("B0", "upright0", at=(0, 1, 0))
    model.dt, model.duration = 0.001, 0.9
    model.reference_energy = 0.5 * ((n + 1) / 3 + n) + 9.81 * ((n + 1) / 2 + n)
    return model
