"""Dampers of tree joints that are too fast for impulsive sub-steps: in the inertia, so that they hold at any mass."""

import numpy as np

import impulsar as im


def pendulum_on_a_slide(damped: bool) -> im.Model:
    """1 kg falls about a hinge with a limit; its cart is held by a damper of 1e11 N s/m, or by nothing that moves."""
    model = im.Model("held cart")
    cart = model.body("cart", mass=1.0, inertia=(0.1, 0.1, 0.1))
    more = {"viscous": 1e11} if damped else {}
    model.joint("rail", "prismatic" if damped else "fixed", model.ground, cart, at=(0, 0, 0), axis=(1, 0, 0), **more)
    bob = model.body("bob", mass=1.0, inertia=(0.01, 0.01, 0.01), position=(0.5, 0, 0))
    model.joint(
        "hinge", "revolute", cart, bob, at=(0, 0, 0), axis=(0, 1, 0), viscous=0.2, limits=(-1.0, 1.0), friction=0.1
    )
    return model


def head_on_a_neck(turns: bool) -> im.Model:
    """A head that a file has as a point: about the line from the neck to it roll and yaw together move nothing."""
    model = im.Model("head")
    neck = model.body("neck", mass=0.1, inertia=(1e-4, 1e-4, 1e-4))
    model.joint("pitch", "revolute", model.ground, neck, at=(0, 0, 0), axis=(0, 1, 0), viscous=0.05, limits=(-1.0, 0.5))
    link = neck
    if turns:
        link = model.body("link", mass=0.1, inertia=(1e-19, 1e-19, 1e-19))
        model.joint("roll", "revolute", neck, link, at=(0, 0, 0), axis=(1, 0, 0), viscous=0.05)
    head = model.body("head", mass=1.3, inertia=(1.3e-18, 1.3e-18, 1.3e-18), position=(0.02, 0, 0.11))
    if turns:
        model.joint("yaw", "revolute", link, head, at=(0, 0, 0), axis=(0, 0, 1), viscous=0.05)
    else:
        link = model.body("link", mass=0.1, inertia=(1e-19, 1e-19, 1e-19))
        model.joint("roll", "fixed", neck, link, at=(0, 0, 0))
        model.joint("yaw", "fixed", link, head, at=(0, 0, 0))
    return model


def test_a_damper_that_nothing_moves_holds_as_a_fixed_joint() -> None:
    """The cart goes by ∫ f / c dt < 1e-9 m; what swings on it does so as on the ground, friction and limit too."""
    runs = []
    for damped in (True, False):
        world = im.World(pendulum_on_a_slide(damped), dt=0.01, method=im.Direct(modes=False))
        angles = []
        for _ in range(100):
            report = world.step()
            angles.append(float(world.joint("hinge").position))
            assert report.iterations < 500
        runs.append(np.array(angles))
        if damped:
            assert abs(float(world.joint("rail").position)) < 1e-9
    assert runs[1].max() > 0.999  # it came to the limit
    np.testing.assert_allclose(runs[0], runs[1], rtol=0, atol=1e-6)


def test_a_direction_without_inertia_is_left_to_its_dampers() -> None:
    """Roll and yaw have no moment in the plane of symmetry: the head falls onto the limit as though they were fixed.

    Sub-steps are of order 2: half as long, the books are off by a quarter.
    """
    runs, off = [], []
    for turns, step in ((False, 1e-3), (True, 1e-3), (True, 5e-4)):
        world = im.World(head_on_a_neck(turns), dt=0.01, method=im.Direct(impulse_step=step))
        angles, worst = [], 0.0
        for _ in range(100):
            world.step()
            angles.append(float(world.joint("pitch").position))
            worst = max(worst, abs(float(world.energy().imbalance)))
        runs.append(np.array(angles))
        off.append(worst)
    assert runs[0].max() > 0.499
    np.testing.assert_allclose(runs[1], runs[0], rtol=0, atol=1e-4)
    assert off[1] < 1e-5 * 1.3 * 9.81 * 0.11
    assert off[2] < off[1] / 3
