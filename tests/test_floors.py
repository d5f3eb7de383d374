"""`floor=True` of every scene: a plane below the mechanism, which its bodies touch."""

import numpy as np
import pytest

import impulsar as im
from impulsar.author.touching import touching_pairs
from impulsar.scenes import SCENES, Scene
from impulsar.scenes.floors import span

SMALL = {"ball-pit": {"n": 30}}


def lowest(model: im.Model) -> float:
    """Of all bodies above the floor [m]."""
    bodies = model.copy()
    floor = bodies.obstacles.pop("floor")
    up = -np.asarray(model.gravity) / np.linalg.norm(model.gravity)
    return span(bodies, up)[0] - float(up @ floor.position)


@pytest.mark.parametrize("name", SCENES)
def test_every_scene_takes_a_floor_that_is_below_it(name: str):
    assert SCENES[name].parameters["floor"] is False
    model = im.scene(name, floor=True, **SMALL.get(name, {}))
    assert lowest(model) >= -1e-12
    touched = {other.owner for pair in touching_pairs(model) for other in pair}
    shown = {
        body for body, part in model.bodies.items() if any(shape.material or part.material for shape in part.shapes)
    }
    assert "floor" in touched and shown <= touched
    world = im.World(model)
    world.step(5)
    assert world.constraint_error() < 1e-12
    assert all(contact.gap > -1e-9 for contact in world.contacts())


def test_a_chain_falls_onto_its_floor_and_lies_there():
    """From level, released: nothing goes through or stays in the air, and the floor carries what the pin does not.

    Without friction in its hinges, which could hold a link up.
    """
    world = im.World(im.scene("five-link", floor=True, friction=0.0))
    world.step(300)
    floor = world.model.obstacles["floor"].position[2]
    ends = [world.point(f"link{k}", (0, 0, z))[2] for k in range(1, 6) for z in (-0.025, 0.025)]
    assert min(ends) - 0.004 > floor - 1e-9
    assert max(ends[4:]) - 0.004 < floor + 1e-6
    carried = sum(-c.force[2] if c.second == "floor" else c.force[2] for c in world.contacts())
    assert 0.5 < carried / (5 * 0.1 * 9.81) < 1.0


def test_linkages_stand_on_their_floor():
    """Gravity of four-bar is along -y: so is the floor across y, and the crank comes to lie on it."""
    world = im.World(im.scene("four-bar", floor=True))
    world.step(1000)
    assert any("floor" in (c.first, c.second) for c in world.contacts())
    assert world.constraint_error() < 1e-9
    bar = [world.point("crank", (0, 0, z))[1] for z in (-0.05, 0.05)]
    assert min(bar) - 0.005 > world.model.obstacles["floor"].position[1] - 1e-9


def test_bodies_do_not_touch_each_other_by_it():
    model = im.scene("cross-lift", floor=True)
    assert all("floor" in (a.owner, b.owner) for a, b in touching_pairs(model))
    assert all(body.material == "wood" for body in model.bodies.values())


def test_a_scene_with_a_floor_keeps_its_own():
    model = im.scene("stack", n=2, floor=True)
    assert list(model.obstacles) == ["floor"] and model.obstacles["floor"].material == "box"
    assert not model.no_contacts


def test_scenes_of_others_take_it_too():
    def own(floor: str = "stone") -> im.Model:
        return im.Model(floor)

    assert Scene("own", own).model(floor="tiles").name == "tiles"

    def bare() -> im.Model:
        return im.Model("bare")

    with pytest.raises(im.ModelError, match="no body has a shape"):
        Scene("bare", bare).model(floor=True)


def test_wrong_floors_are_named():
    with pytest.raises(im.ModelError, match="floor is 1, expected True or False"):
        im.scene("chain", floor=1)
    with pytest.raises(im.ModelError, match="floor is for 100 bodies at most, it has 101"):
        im.scene("chain", n=101, floor=True)
