"""Mechanisms that have a row of every kind between them."""

import pytest

import impulsar as im

BOX = {"mass": 1.0, "inertia": (0.02, 0.03, 0.04)}


def loops() -> im.Model:
    """A four-bar driven by a motor, geared to a wheel that another holds, with limits, springs and a load."""
    model = im.Model("loops", gravity=(0.0, 0.0, -9.81))
    y = (0.0, 1.0, 0.0)
    for name, x, z in (("crank", 0.0, 0.1), ("coupler", 0.25, 0.3), ("rocker", 0.5, 0.15), ("wheel", 2.0, 0.0)):
        model.body(name, **BOX, position=(x, 0.0, z))
    model.body("slider", **BOX, position=(1.0, 0.0, 0.0))
    drive = im.Motor(speed=im.Harmonic(1.0, 2.0), max_torque=3.0)
    model.joint("a", "revolute", "ground", "crank", at=(0.0, 0.0, 0.0), axis=y, motor=drive, friction=0.2)
    model.joint(
        "b", "revolute", "crank", "coupler", at=(0.0, 0.0, 0.2), axis=y, stiffness=0.5, damping=0.02, viscous=0.01
    )
    model.joint(
        "c", "revolute", "coupler", "rocker", at=(0.5, 0.0, 0.4), axis=y, limits=(-0.3, 0.05), limit_restitution=0.4
    )
    model.joint("d", "revolute", "rocker", "ground", at=(0.5, 0.0, 0.0), axis=y, friction=0.1)
    model.joint("e", "revolute", "ground", "wheel", at=(2.0, 0.0, 0.0), axis=y)
    model.joint(
        "f",
        "prismatic",
        "ground",
        "slider",
        at=(1.0, 0.0, 0.0),
        axis=(1.0, 0.0, 0.0),
        motor=im.Motor(torque=im.Harmonic(2.0, 3.0)),
    )
    model.coupling("gear", "d", "e", ratio=-1.5)
    model.spring(
        "spring", "slider", "rocker", (1.0, 0.0, 0.0), (0.5, 0.0, 0.3), stiffness=30.0, damping=0.5, free_length=0.4
    )
    model.load("push", "slider", force=(0.0, 0.0, im.Harmonic(1.0, 1.0)))
    return model


def balls() -> im.Model:
    """Bodies on balls with friction, a motor and limits, a position motor, and a free body on a spring."""
    model = im.Model("balls", gravity=(0.0, 0.0, -9.81))
    for k, name in enumerate(("rubbed", "driven", "held", "free")):
        model.body(name, **BOX, position=(k, 0.0, -0.2), angular_velocity=(0.3, 2.0, 1.0))
    cone = {"swing": 0.4, "twist": (-0.2, 0.3)}
    model.joint(
        "rub", "spherical", "ground", "rubbed", at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0), friction=0.3, limits=cone
    )
    turn = im.Motor(speed=(0.5, 0.0, 1.0), max_torque=0.5)
    model.joint("drive", "spherical", "ground", "driven", at=(1.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0), motor=turn)
    go = im.Motor(position=im.Harmonic(0.3, 1.0))
    model.joint("hold", "revolute", "ground", "held", at=(2.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0), motor=go)
    model.joint("rod", "distance", "held", "free", at=(2.0, 0.0, -0.3), at_b=(3.0, 0.0, -0.3))
    model.spring("cord", "rubbed", "driven", (0.0, 0.0, -0.3), (1.0, 0.0, -0.3), stiffness=5.0, damping=0.1)
    return model


MECHANISMS = {"loops": loops, "balls": balls}


@pytest.fixture(params=MECHANISMS)
def mechanism(request: pytest.FixtureRequest) -> im.Model:
    """Each of the mechanisms."""
    return MECHANISMS[request.param]()
