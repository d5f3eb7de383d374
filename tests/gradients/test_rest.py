"""Derivatives where the sample leaves something undone: at rest, across a plane of symmetry, couplings that close."""

import numpy as np
import pytest

import impulsar as im

FIXED = im.Direct(substeps=1)
INERTIA = (1e-3, 1.2e-3, 2e-3)


def test_free_bodies_under_error_control() -> None:
    """A hinge of a free body is the pendulum of the tree: the same derivative in both coordinates."""
    found = {}
    for coordinates in ("generalized", "maximal"):
        model = im.Model("pendulum")
        arm = model.body("arm", 0.5, inertia=INERTIA, position=(0.2, 0, 0))
        model.joint("hinge", "revolute", "ground", arm, at=(0, 0, 0), axis=(0, 1, 0), viscous=0.01)
        world = im.World(model, method=im.Direct(rtol=1e-10, atol=1e-10), dt=0.01, coordinates=coordinates)
        found[coordinates] = world.sensitivity("hinge.position", ("arm.mass", "hinge.viscous"), 0.1).derivatives
    assert found["maximal"] == pytest.approx(found["generalized"], rel=1e-7)


@pytest.mark.parametrize("method", ["direct", FIXED, "simgc"])
def test_an_offset_of_a_coupling_moves_both_sides(method) -> None:
    """b = a + offset of equal rotors closes by a half each, in the norm of the masses."""
    model = im.Model("gears", gravity=(0, 0, 0))
    for k, name in enumerate("ab"):
        rotor = model.body(name, 1.0, inertia=(1e-2,) * 3, position=(k, 0, 0))
        model.joint(f"j{name}", "revolute", "ground", rotor, at=(k, 0, 0), axis=(0, 0, 1))
    model.coupling("gear", "ja", "jb")
    world = im.World(model, method=method, dt=0.01)
    found = world.sensitivity(("ja.position", "jb.position"), "gear.offset", 0.05)
    assert found.derivatives[0, :, 0] == pytest.approx([-0.5, 0.5], rel=1e-6)


def platform() -> im.Model:
    """A plate on three rods, at rest; the load on it is 0."""
    model = im.Model("platform")
    plate = model.body("plate", 0.5, inertia=INERTIA, position=(0, 0, -0.5))
    model.load("push", plate, force=(0, 0, 0), at=(0.05, 0.02, -0.5))
    for k, (x, y) in enumerate(((0.2, 0), (-0.1, 0.17), (-0.1, -0.17))):
        rod = model.body(f"rod{k}", 0.2, inertia=INERTIA, position=(x, y, -0.25))
        model.joint(f"top{k}", "universal", "ground", rod, at=(x, y, 0), axis=(1, 0, 0), axis2=(0, 1, 0))
        model.joint(f"end{k}", "spherical", rod, plate, at=(x, y, -0.5))
    return model


def chain() -> im.Model:
    """Four hinged links at rest, all joints with dampers that only sweeps can solve together; the load is 0."""
    model, before = im.Model("chain"), "ground"
    for k in range(4):
        link = model.body(f"link{k}", 0.1, inertia=(2e-5, 2e-5, 1e-6), position=(0, 0, -0.05 * k - 0.025))
        model.joint(f"hinge{k}", "revolute", before, link, at=(0, 0, -0.05 * k), axis=(0, 1, 0), viscous=0.01)
        before = link.name
    model.load("push", before, force=(0, 0, 0), at=(0, 0, -0.2))
    return model


@pytest.mark.parametrize(
    "make, method, of, bound",
    [
        (platform, FIXED, ("plate.position", "top0.first.velocity"), 1e-6),
        (platform, im.Simgc(epsilon=1e-13, iterations=3000), ("plate.position", "top0.first.velocity"), 1e-2),
        (chain, FIXED, ("hinge0.position", "hinge3.velocity"), 1e-3),
    ],
)
def test_a_load_of_nothing_on_what_hangs(make, method, of, bound) -> None:
    """As far as differences have a limit: where `simgc` keeps energies, and where sweeps end, steps are not smooth."""

    def after(force: float) -> np.ndarray:
        world = im.World(make(), method=method, dt=0.005)
        world.set("push.force", (force, 0, 0))
        world.step(6)
        return np.concatenate([_read(world, path) for path in of])

    found = im.World(make(), method=method, dt=0.005).sensitivity(of, "push.force.x", 0.03)
    expected = (after(1e-2) - after(-1e-2)) / 2e-2
    assert found.derivatives[0, :, 0] == pytest.approx(expected, rel=bound, abs=bound * np.abs(expected).max())


def _read(world: im.World, path: str) -> np.ndarray:
    name, _, what = path.rpartition(".")
    if name in world.model.bodies:
        return np.asarray(world.body(name).position)
    told = world.joint_positions() if what == "position" else world.joint_velocities()
    return told[[world.readout.coordinates.index(name)]]
