"""Reactions: the force in the hinge of a falling rod, in both coordinates.

A uniform rod is released level. When it has turned by θ the hinge pulls it along itself, towards the
pivot, by 5/2 m g sin θ and carries it across by 1/4 m g cos θ. `joint.reaction` is what the joint
transmits to its second body (here the rod), at the joint, in world axes, at the end of the step.
"""

import numpy as np

import impulsar as im

mass, length, g, dt = 2.0, 1.0, 9.81, 1e-4


def hinge_forces(coordinates: str) -> np.ndarray:
    """θ [rad], force along the rod and across it [N], every 0.1 s."""
    model = im.Model("rod")
    across = mass * length**2 / 12
    rod = model.body("rod", mass=mass, inertia=(1e-4, across, across), position=(length / 2, 0, 0))
    model.joint("hinge", "revolute", model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0))
    world = im.World(model, dt=dt, coordinates=coordinates)
    rows = []
    for _ in range(5):
        world.step(1000)
        theta, force = world.joint("hinge").position, world.joint("hinge").reaction.force
        c, s = np.cos(theta), np.sin(theta)
        rows.append((theta, force @ (-c, 0, s), force @ (s, 0, c)))
    return np.array(rows)


measured = {coordinates: hinge_forces(coordinates) for coordinates in ("generalized", "maximal")}
for coordinates, rows in measured.items():
    for theta, along, across in rows:
        laws = 2.5 * mass * g * np.sin(theta), 0.25 * mass * g * np.cos(theta)
        forces = f"along {along:.3f} N (law {laws[0]:.3f}), across {across:.3f} N (law {laws[1]:.3f})"
        print(f"{coordinates}, θ = {theta:.3f} rad: {forces}")
