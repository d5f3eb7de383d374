"""Edits: what a hand, a load and a parameter do, and how a wrong one is refused."""

import numpy as np
import pytest

import impulsar as im

# others take hands as forces of an instant, or leave fast vibrations as they are
IMPLICIT = ["direct", "simgc", "simmc", "generalized_alpha"]
PAIRS = [(name, kind) for name, method in im.METHODS.items() for kind in method.coordinates]


def disc() -> im.Model:
    model = im.Model("disc", gravity=(0, 0, 0))
    model.body("disc", mass=2.0, inertia=(1, 1, 1))
    return model


def test_hand_pulls_by_its_spring(device):
    """Held away from its target a body feels k d, for a step h small against √(m/k)."""
    world = im.World(disc(), method="simgc", dt=1e-5, device=device)
    hand = world.grab("disc", stiffness=100.0, damping=0.0)
    hand.move((0.1, 0.0, 0.0))
    world.step(2)
    assert hand.force[0] == pytest.approx(10.0, rel=1e-4)
    assert world.body("disc").acceleration[0] == pytest.approx(5.0, rel=1e-4)


@pytest.mark.parametrize(("method", "coordinates"), PAIRS)
def test_hand_swings_at_its_own_frequency(method, coordinates):
    """ω = √(k/m): after half a period the body is as far on the other side, and the hand pulls back by k A. `direct`
    to its tolerance; an implicit step of order 1 damps by ω h / 2, half a period by π ω h / 2 of the amplitude."""
    world = im.World(disc(), method, coordinates, dt=1e-4)
    lost = 1e-7 if method == "direct" else np.pi / 2 * 5.0 * 1e-4
    hand = world.grab("disc", stiffness=50.0, damping=0.0)
    hand.move((0.1, 0.0, 0.0))
    world.step(round(np.pi / 5.0 / 1e-4))
    assert world.body("disc").position[0] == pytest.approx(0.2, abs=1.1 * 0.1 * lost)
    assert hand.force[0] == pytest.approx(-5.0, rel=1.1 * lost)


@pytest.mark.parametrize("method", IMPLICIT)
def test_stiff_hand_is_stable_at_a_long_step(method):
    """k = 1e9 N/m at h = 0.01: an explicit step would grow by h²k/m = 5e4. With critical damping c = 2 √(k m) the
    stretch falls by e^(-ω t), ω = 22,000 rad/s: after 1 s the hand is at its target, whatever the method."""
    world = im.World(disc(), method=method, dt=0.01)
    hand = world.grab("disc", stiffness=1e9, damping=2 * np.sqrt(1e9 * 2.0))
    hand.move((0.1, 0.2, 0.3))
    world.step(100)
    miss = np.linalg.norm(world.body("disc").position - (0.1, 0.2, 0.3))
    assert miss < 1e-6  # from 0.37 m


@pytest.mark.parametrize("method", IMPLICIT)
def test_stiff_hand_without_a_damper_gains_no_energy(method):
    """The same without a damper: nothing takes the energy k d²/2 away, and no step may add to it."""
    world = im.World(disc(), method=method, dt=0.01)
    hand = world.grab("disc", stiffness=1e9, damping=0.0)
    hand.move((0.1, 0.2, 0.3))
    start = 0.5 * 1e9 * (0.1**2 + 0.2**2 + 0.3**2)
    for _ in range(100):
        world.step()
        assert world.energy().total <= start * (1 + 1e-3)


@pytest.mark.parametrize(("method", "coordinates"), PAIRS)
def test_release_books_what_is_left_in_the_spring(method, coordinates):
    """Let go at once: the hand did work k d²/2 on its spring and takes it all back, but for the kinetic energy of the
    disc, 1e-7 J. `direct` books to rounding; the sum of F Δx over n steps of order 1 is off by k d²/2n."""
    world = im.World(disc(), method, coordinates, dt=1e-6)
    hand = world.grab("disc", stiffness=100.0, damping=0.0)
    n = 100
    hand.move(im.Ramp((0.0, 0.0, 0.0), (0.1, 0.0, 0.0), 0.0, n * 1e-6))
    world.step(n)
    assert world.energy().elastic == pytest.approx(0.5, rel=1e-6)
    hand.release()
    books = world.energy()
    assert books.elastic == 0.0
    allowed = 1e-12 if method == "direct" else 0.5 / n
    assert books.work["released hands"] == pytest.approx(books.kinetic, abs=1.01 * allowed)
    assert 1e-8 < books.kinetic < 1e-6
    world.step(10)
    assert world.hand_forces() == {}


def test_hands_and_loads_grow_without_a_jump():
    """The second hand doubles the capacity: the state is kept bit for bit, and the motion goes on as it was."""
    model = im.scene("ten-pendula", start="30deg")
    world, reference = im.World(model, dt=0.001), im.World(model, dt=0.001)
    for each in (world, reference):
        each.set("link3.mass", 0.3)
        each.grab("link10", at=(0, 0, -0.025), name="right")
        each.step(20)
    other = world.grab("link5", name="left", stiffness=1.0)
    world.apply(im.ApplyLoad("push", "link5", force=(1.0, 0, 0)))
    world.apply(im.RemoveLoad("push"))
    other.release()
    for name in ("q", "v", "time"):
        assert np.array_equal(world.state.read(name), reference.state.read(name))
    assert world.energy().imbalance == pytest.approx(reference.energy().imbalance, abs=1e-12)
    world.step(20)
    reference.step(20)
    # a hand may be stiff: the sub-steps are chosen anew, within the tolerance
    assert world.body("link10").position == pytest.approx(reference.body("link10").position, abs=1e-7)
    assert world.energy().imbalance == pytest.approx(reference.energy().imbalance, abs=1e-7)


def test_load_accelerates(device):
    """F = m a along world axes; a body-fixed load turns with the body."""
    world = im.World(disc(), dt=0.001, device=device)
    world.apply(im.ApplyLoad("push", "disc", force=(4.0, 0, 0)))
    world.step(1000)
    assert world.body("disc").velocity[0] == pytest.approx(2.0, rel=1e-12)
    assert world.energy().work["push"] == pytest.approx(4.0, rel=1e-12)
    assert abs(world.energy().imbalance) < 1e-12
    world.apply(im.RemoveLoad("push"))
    world.step(100)
    assert world.body("disc").velocity[0] == pytest.approx(2.0, rel=1e-12)


def test_load_follows_a_profile():
    """Impulse of a ramp from 0 to 2 N over 1 s: 1 N s, less h F/2 by the step's own quadrature."""
    model = disc()
    model.load("ramp", "disc", force=im.Ramp((0, 0, 0), (2.0, 0, 0), 0.0, 1.0))
    world = im.World(model, method="simgc", dt=0.001)
    world.step(1000)
    assert 2.0 * world.body("disc").velocity[0] == pytest.approx(1.0 - 0.001, rel=1e-12)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (im.Grab("h", "dics"), "did you mean 'disc'"),
        (im.Grab("h", "disc", at=(0, 0)), "expected 3 numbers"),
        (im.Grab("h", "disc", stiffness=float("nan")), "stiffness is nan"),
        (im.Grab("h", "disc", stiffness=0.0, damping=0.0), "both 0"),
        (im.Move("h", (0, 0, 0)), "no hand named 'h'"),
        (im.Release("h"), "no hand named 'h'"),
        (im.ApplyLoad("l", "disc", force=(1, 2)), "load 'l'"),
        (im.ApplyLoad("l", "disc", frame="moon"), "expected 'world' or 'body'"),
        (im.RemoveLoad("l"), "no load named 'l'"),
        (im.SetParameter("disc.mass", -1.0), "expected > 0"),
        (im.SetParameter("disc.mass", "heavy"), "not a number"),
        (im.SetParameter("disc.mass", [1.0, 2.0]), r"expected \(\) or \(1,\)"),
        (im.SetParameter("disc.taste", 1.0), "no parameter named 'taste'"),
        (im.SetParameter("dics.mass", 1.0), "did you mean 'disc'"),
        ("not an edit", "not an edit"),
    ],
)
def test_wrong_edits_are_refused_and_change_nothing(edit, words):
    world = im.World(disc())
    before = world.hash()
    with pytest.raises(im.EditError, match=words):
        world.apply(edit)
    assert world.hash() == before
    world.step()
