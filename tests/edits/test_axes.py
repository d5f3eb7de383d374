"""An axis by two places: points of the world or of bodies, at the authored or the present pose."""

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.author.rotations import rotation_matrix
from impulsar.io import edit_from_json, edit_to_json


def arms() -> im.Model:
    """Two arms, the second hinged about y to the end of the first."""
    model = im.Model("arms")
    for k in (0, 1):
        model.body(f"arm{k}", density=1000.0, position=(0.1 + 0.2 * k, 0, 0), shape=im.Box((0.2, 0.02, 0.02)))
    model.joint("root", "revolute", "ground", "arm0", at=(0, 0, 0), axis=(0, 1, 0))
    model.joint("elbow", "revolute", "arm0", "arm1", at=(0.2, 0, 0), axis=(0, 1, 0))
    return model


def axis_in(world: im.World, joint: str) -> np.ndarray:
    """z of frame F in the world."""
    own = world.model.joints[joint]
    body = world.body(own.first)
    return rotation_matrix(body.orientation) @ rotation_matrix(own.q_PF)[:, 2]


def test_an_axis_goes_from_one_point_to_another() -> None:
    """In a model: from a point of a body to one of the world, whatever their distance."""
    model = arms()
    model.body("tip", density=1000.0, position=(0.5, 0, 0), shape=im.Sphere(0.02))
    joint = model.joint(
        "wrist", "revolute", "arm1", "tip", at=(0.4, 0, 0), axis=(("arm1", (0.1, 0, 0)), (0.4, 0.3, 0.4))
    )
    assert np.allclose(rotation_matrix(joint.q_PF)[:, 2], (0, 0.6, 0.8), atol=1e-15)


def test_an_axis_by_points_of_bodies_where_they_are_now_and_back() -> None:
    """After a swing the axis goes along the second arm as it lies then; nothing moves, the inverse takes it back."""
    world = im.World(arms(), dt=0.001)
    world.step(300)
    q = world.body("arm1").orientation.copy()
    before = axis_in(world, "elbow")
    edit = edits.ChangeJoint("elbow", {"axis": (("arm1", (-0.1, 0, 0)), ("arm1", (0.1, 0, 0)))})
    answer = world.apply(edit_from_json(edit_to_json(edit)))  # as it comes by wire and from journals
    along = rotation_matrix(q) @ (1, 0, 0)
    assert np.linalg.norm(np.cross(axis_in(world, "elbow"), along)) < 1e-12
    assert answer.moved < 1e-12 and np.allclose(world.body("arm1").orientation, q, atol=1e-15)
    assert answer.inverse is not None
    world.apply(answer.inverse)
    assert np.linalg.norm(axis_in(world, "elbow") - before) < 1e-12


@pytest.mark.parametrize(
    ("axis", "words"),
    [
        (((0, 0, 0), (0, 0, 0)), "one point"),
        ((("arm9", (0, 0, 0)), (0, 0, 1)), "no body named"),
        (((0, 0), (0, 0, 1)), "3"),
    ],
)
def test_what_is_no_axis_is_refused(axis: object, words: str) -> None:
    world = im.World(arms())
    with pytest.raises(im.ModelError, match=words):
        world.apply(edits.ChangeJoint("elbow", {"axis": axis}))
