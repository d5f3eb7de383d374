"""Numbers that no mechanism has: not finite, or beyond 1e20 in SI, refused with the part's name wherever they stand."""

import math

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.engine.methods import METHODS, Method

GENERAL = {name: method for name, method in METHODS.items() if method.refuse is Method.refuse}  # take any mechanism
PAIRS = [(name, kind) for name, method in GENERAL.items() for kind in method.coordinates]
BAD = (math.nan, math.inf, -math.inf, 1e21, -1e21, 1e300, 10**25, 10**400, np.float64("nan"), np.float32("inf"))
I3 = (0.1, 0.1, 0.1)


def arm() -> im.Model:
    model = im.Model("arm")
    model.body("arm", mass=1.0, inertia=I3, position=(0.5, 0, 0))
    model.body("rod", mass=1.0, inertia=I3, position=(1.5, 0, 0))
    motor = im.Motor(torque=0.0)
    model.joint("hinge", "revolute", "ground", "arm", at=(0, 0, 0), axis=(0, 1, 0), motor=motor)
    model.joint("elbow", "revolute", "arm", "rod", at=(1, 0, 0), axis=(0, 1, 0), friction=0.1, stiffness=1.0)
    model.spring("coil", "ground", "rod", (0, 0, 1), (2, 0, 0), stiffness=1.0, damping=0.1)
    model.load("wind", "rod", force=(0, 0, 1))
    model.coupling("gear", "hinge", "elbow", ratio=2.0)
    return model


def vec(x):
    return (0.0, x, 0.0)


HERE = {"at": (1, 0, 0), "axis": (0, 1, 0)}
# what a number is of: the call that gives it, and the part that the refusal names
MODEL = {
    "gravity": (lambda x: im.Model("m", gravity=vec(x)), "model 'm'"),
    "mass": (lambda x: arm().body("b", mass=x, inertia=I3), "body 'b'"),
    "inertia": (lambda x: arm().body("b", mass=1.0, inertia=(1.0, x, 1.0)), "body 'b'"),
    "tensor": (lambda x: arm().body("b", mass=1.0, inertia=((x, 0, 0), (0, x, 0), (0, 0, x))), "body 'b'"),
    "density": (lambda x: arm().body("b", shape=im.Box((1, 1, 1)), density=x), "body 'b'"),
    "position": (lambda x: arm().body("b", mass=1.0, inertia=I3, position=vec(x)), "body 'b'"),
    "velocity": (lambda x: arm().body("b", mass=1.0, inertia=I3, velocity=vec(x)), "body 'b'"),
    "spin": (lambda x: arm().body("b", mass=1.0, inertia=I3, angular_velocity=vec(x)), "body 'b'"),
    "orientation": (lambda x: arm().body("b", mass=1.0, inertia=I3, orientation=(0, 0, x, 1)), "body 'b'"),
    "size": (lambda x: im.Box((1.0, x, 1.0)), "Box"),
    "radius": (lambda x: im.Sphere(x), "Sphere"),
    "hull": (lambda x: im.ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, x)]), "ConvexHull"),
    "at": (lambda x: arm().joint("j", "spherical", "arm", "rod", at=vec(x)), "joint 'j'"),
    "pitch": (lambda x: arm().joint("j", "screw", "arm", "rod", pitch=x, **HERE), "joint 'j'"),
    **{
        what: (lambda x, what=what: arm().joint("j", "revolute", "arm", "rod", **HERE, **{what: x}), "joint 'j'")
        for what in ("friction", "viscous", "stiffness", "damping", "rest")
    },
    "restitution": (
        lambda x: arm().joint("j", "revolute", "arm", "rod", limits=(-1, 1), limit_restitution=x, **HERE),
        "joint 'j'",
    ),
    "ratio": (lambda x: arm().coupling("c", "hinge", "elbow", ratio=x), "coupling 'c'"),
    "spring": (lambda x: arm().spring("s", "arm", "rod", (0, 0, 0), (2, 0, 0), stiffness=x), "spring 's'"),
    "damper": (lambda x: arm().spring("s", "arm", "rod", (0, 0, 0), (2, 0, 0), 1.0, damping=x), "spring 's'"),
    "free length": (lambda x: arm().spring("s", "arm", "rod", (0, 0, 0), (2, 0, 0), 1.0, 0.0, x), "spring 's'"),
    "end": (lambda x: arm().spring("s", "arm", "rod", vec(x), (2, 0, 0), 1.0), "spring 's'"),
    "force": (lambda x: arm().load("l", "rod", force=vec(x)), "load 'l'"),
    "torque": (lambda x: arm().load("l", "rod", torque=vec(x)), "load 'l'"),
    "load at": (lambda x: arm().load("l", "rod", at=vec(x)), "load 'l'"),
    "probe": (lambda x: arm().probe("p", "rod", at=vec(x)), "probe 'p'"),
    "ramp": (lambda x: im.Ramp(0.0, x, 0.0, 1.0), "Ramp: end"),
    "ramp start": (lambda x: im.Ramp(vec(x), (0, 0, 0), 0.0, 1.0), "Ramp: start"),
    "ramp time": (lambda x: im.Ramp(0.0, 1.0, 0.0, x), "Ramp: t1"),
    "harmonic": (lambda x: im.Harmonic(x, 1.0), "Harmonic: amplitude"),
    "omega": (lambda x: im.Harmonic(1.0, x), "Harmonic: omega"),
    "table": (lambda x: im.Table((0.0, 1.0), (0.0, x)), r"Table: values\[1\]"),
    "table time": (lambda x: im.Table((0.0, x), (0.0, 1.0)), r"Table: times\[1\]"),
    "script": (lambda x: arm().at(x, edits.Pause()), "model 'arm'"),
}
BY_HAND = {  # written into a part after it was made: found when the model is built
    "mass": (lambda m, x: setattr(m.bodies["arm"], "mass", x), "body 'arm'"),
    "position": (lambda m, x: setattr(m.bodies["arm"], "position", np.array([0.0, 0.0, float(x)])), "body 'arm'"),
    "stiffness": (lambda m, x: setattr(m.springs["coil"], "stiffness", x), "spring 'coil'"),
    "friction": (lambda m, x: setattr(m.joints["elbow"].features["angle"], "friction", x), "joint 'elbow'"),
    "force": (lambda m, x: setattr(m.loads["wind"], "force", vec(x)), "load 'wind'"),
    "ratio": (lambda m, x: setattr(m.couplings["gear"], "ratio", x), "coupling 'gear'"),
    "motor": (lambda m, x: setattr(m.joints["hinge"].features["angle"].motor, "torque", x), "joint 'hinge'"),
    "gravity": (lambda m, x: setattr(m, "gravity", vec(x)), "model 'arm'"),
}
EDITS = {
    "grab at": lambda x: edits.Grab("h", "arm", vec(x)),
    "grab stiffness": lambda x: edits.Grab("h", "arm", stiffness=x),
    "grab damping": lambda x: edits.Grab("h", "arm", damping=x),
    "move": lambda x: edits.Move("held", vec(x)),
    "grab angular stiffness": lambda x: edits.Grab("h", "arm", angular_stiffness=x),
    "move worlds": lambda x: edits.Move("held", np.array([[0.0, 0.0, float(x)]])),
    "load": lambda x: edits.ApplyLoad("l", "rod", force=vec(x)),
    "load torque": lambda x: edits.ApplyLoad("l", "rod", torque=vec(x)),
    "load at": lambda x: edits.ApplyLoad("l", "rod", at=vec(x)),
    **{
        path: lambda x, path=path: edits.SetParameter(path, x)
        for path in (
            *("arm.mass", "coil.stiffness", "coil.damping", "coil.free_length", "elbow.friction", "elbow.stiffness"),
            *("elbow.damping", "elbow.rest", "elbow.viscous", "gear.ratio", "hinge.friction", "hinge.stiffness"),
        )
    },
    "inertia": lambda x: edits.SetParameter("arm.inertia", (1.0, x, 1.0)),
    "gravity": lambda x: edits.SetParameter("model.gravity", vec(x)),
    "position": lambda x: edits.SetParameter("arm.position", vec(x)),
    "velocity": lambda x: edits.SetState({"arm": {"velocity": vec(x)}}),
    "spin": lambda x: edits.SetState({"arm": {"angular_velocity": vec(x)}}),
    "orientation": lambda x: edits.SetState({"arm": {"orientation": (0, 0, x, 1)}}),
    "drive": lambda x: edits.Drive("hinge", x),
    "step": lambda x: edits.SetStep(x),
    "change": lambda x: edits.ChangeJoint("elbow", {"stiffness": x}),
    "add": lambda x: edits.Add("body", "b", {"mass": x, "inertia": I3}),
    "add load": lambda x: edits.Add("load", "b", {"body": "arm", "force": vec(x)}),
    "drag": lambda x: edits.DragTo("arm", vec(x)),
    "method": lambda x: edits.SetMethod("direct", {"rtol": x}),
}


@pytest.mark.parametrize("what", MODEL)
@pytest.mark.parametrize("value", BAD, ids=lambda x: repr(x)[:14])
def test_in_a_call(what, value):
    """Whatever takes a number: the part, the value and the cure."""
    call, owner = MODEL[what]
    with pytest.raises(ValueError, match=owner) as caught:
        call(value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("what", BY_HAND)
@pytest.mark.parametrize("value", BAD, ids=lambda x: repr(x)[:14])
def test_written_by_hand(what, value):
    """When the model is built."""
    write, owner = BY_HAND[what]
    model = arm()
    if what == "position" and isinstance(value, int) and value > 1e300:
        value = math.inf
    write(model, value)
    with pytest.raises(im.ModelError, match=owner):
        im.World(model)


@pytest.mark.parametrize(("method", "coordinates"), PAIRS)
@pytest.mark.parametrize("what", EDITS)
def test_in_an_edit(what, method, coordinates):
    """Refused, and the world has the bits it had; stepping goes on."""
    world = im.World(arm(), method, coordinates)
    world.grab("rod", name="held")
    world.step(3)
    before = world.hash()
    for value in BAD:
        if what == "move worlds" and isinstance(value, int) and value > 1e300:
            continue
        with pytest.raises(im.EditError) as caught:
            world.apply(EDITS[what](value))
        assert 10 < len(str(caught.value)) < 500
        assert world.hash() == before
    world.step()


@pytest.mark.parametrize(("method", "coordinates"), PAIRS)
def test_what_is_within_the_bound_is_taken(method, coordinates):
    """1e20 itself is; a bound of a motor and of limits may be infinite; and each is what the model has afterwards."""
    model = arm()
    model.joints["hinge"].features["angle"].limits = (-math.inf, math.inf)
    world = im.World(model, method, coordinates)
    world.set("coil.stiffness", 1e20)
    world.set("hinge.max_torque", 5.0)
    world.set("hinge.max_torque", math.inf)
    assert world.model.springs["coil"].stiffness == 1e20
    assert world.model.joints["hinge"].features["angle"].motor.max_torque == math.inf
    world.apply(edits.ApplyLoad("l", "rod", force=(1e20, 0, 0)))


@pytest.mark.parametrize("mass", (1e-51, 1e-300, 5e-324, 0.0, -1.0))
def test_masses_whose_inverse_is_none(mass):
    """As an edit refuses them, so does the model."""
    with pytest.raises(im.ModelError, match="body 'b': mass is"):
        arm().body("b", mass=mass, inertia=I3)
    with pytest.raises(im.ModelError, match="body 'b': inertia"):
        arm().body("b", mass=1.0, inertia=(mass, mass, mass))
    with pytest.raises(im.EditError, match=r"'arm\.mass'"):
        im.World(arm()).set("arm.mass", mass)
