"""four-bar."""

import math

import numpy as np

from ..author.model import Model
from .parts import rod

CRANK, COUPLER, ROCKER, GROUND = 0.1, 0.25, 0.2, 0.25  # [m]


def build(angle_deg: float = 60.0) -> Model:
    """Four-bar linkage of crank 0.1, coupler 0.25, rocker 0.2, ground 0.25 m, released at rest at 60°."""
    model = Model("four-bar", gravity=(0.0, -9.81, 0.0))
    O, C = np.zeros(3), np.array([GROUND, 0.0, 0.0])
    angle = math.radians(angle_deg)
    A = CRANK * np.array([math.cos(angle), math.sin(angle), 0.0])
    # B above the line from A to C: |AB| = coupler, |CB| = rocker
    d = C - A
    far = float(np.linalg.norm(d))
    along = (far**2 + COUPLER**2 - ROCKER**2) / (2 * far)
    B = A + along * d / far + math.sqrt(COUPLER**2 - along**2) * np.array([-d[1], d[0], 0.0]) / far
    crank, coupler, rocker = (
        rod(model, name, a, b, mass=float(np.linalg.norm(b - a)))
        for name, a, b in (("crank", O, A), ("coupler", A, B), ("rocker", C, B))
    )
    for name, first, second, at in (
        ("O", model.ground, crank, O),
        ("A", crank, coupler, A),
        ("B", coupler, rocker, B),
        ("C", model.ground, rocker, C),
    ):
        model.joint(name, "revolute", first, second, at=at, axis=(0, 0, 1))
    model.probe("path B", coupler, at=B)
    model.dt, model.duration = 0.001, 5.0
    model.reference_energy = 9.81 * sum(body.mass for body in model.bodies.values()) * CRANK
    return model
