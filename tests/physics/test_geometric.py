"""The geometric part of the tangent against closed forms, and with stiffness against differences of whole forces.

On random trees, with a row of every sort, it is the case `geometric-tangent` of validate/identities.py.
"""

import numpy as np
import pytest

import impulsar as im
from impulsar.analysis.bodies import Mechanism
from impulsar.engine.integrate.geometric import geometric_tangent
from impulsar.engine.state import State, allocate_work
from impulsar.engine.system import System
from impulsar.engine.system.slots import COMPLIANCE, SPRING
from impulsar.validate.poison import poison

BOX = {"mass": 2.0, "inertia": (0.02, 0.03, 0.04)}
G = 9.81
Y = (0.0, 1.0, 0.0)


def tangent(model: im.Model, device: str, forces: dict[tuple[str, int], float]) -> np.ndarray:
    """G at the authored pose, with forces in some slots, by part and code [N, N m]."""
    system = System(model, device=device)
    state, work = State(system.counts, device), allocate_work(system.counts, device)
    poison(work)
    state.write("q", system.start_coordinates()[:, None])
    force = np.zeros((system.counts.rows, 1))
    for r, slot in enumerate(system.slots):
        force[r] = forces.get((slot.name, slot.code), 0.0)
    return geometric_tangent(system, state, work, force)[0]


@pytest.mark.parametrize("angle", [0.0, 0.7, np.pi], ids=["hangs", "off", "stands"])
def test_pendulum(angle: float, device: str) -> None:
    """The torque -m g l sin θ of the weight changes by -m g l cos θ; a thrust along the rod stays what it is."""
    arm = 0.5 * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    model = im.Model("pendulum", gravity=(0.0, 0.0, -G))
    model.body("rod", **BOX, position=arm, orientation=(0.0, -np.sin(angle / 2), 0.0, np.cos(angle / 2)))
    model.joint("pivot", "revolute", "ground", "rod", at=(0, 0, 0), axis=Y)
    model.load("thrust", "rod", force=(3.0, 0.0, 7.0), frame="body")
    assert tangent(model, device, {}) == pytest.approx(np.array([[-2.0 * G * 0.5 * np.cos(angle)]]), abs=1e-13)


def test_body_that_hangs_on_a_stretched_spring(device: str) -> None:
    """Held by tension T over a length L at a point a above its centre of mass.

    Its end moves by u = x + a θ across, and the force by -T u / L; where the body turns, T acts on the arm a, too:
    energy T u² / 2 L + T a θ² / 2. Along the line, and about it, nothing is.
    """
    L, a, T = 0.8, 0.3, 50.0
    model = im.Model("hung", gravity=(0.0, 0.0, -G))
    model.body("box", **BOX, position=(0.0, 0.0, -L - a))
    model.spring("cord", "ground", "box", (0, 0, 0), (0.0, 0.0, -L), stiffness=1e3)
    expected = np.zeros((6, 6))
    for across, turn, sign in ((0, 4, 1.0), (1, 3, -1.0)):
        u = np.zeros(6)
        u[across], u[turn] = 1.0, sign * a
        expected -= T / L * np.outer(u, u)
        expected[turn, turn] -= T * a
    found = tangent(model, device, {("cord", 0): -T})
    assert found == pytest.approx(expected, abs=1e-12 * T)


@pytest.mark.parametrize("kind", ["spring", "distance"])
def test_string_under_tension(kind: str, device: str) -> None:
    """Beads on a string of tension T at distances L: T / L [2, -1, -1, 2] across, nothing along.

    Whether springs or rigid rods carry the tension: it is their turning that counts.
    """
    n, L, T = 4, 0.25, 30.0
    model = im.Model("string", gravity=(0.0, 0.0, 0.0))
    ends = [(L * k, 0.0, 0.0) for k in range(n + 2)]
    names = ["ground", *[f"bead {k}" for k in range(n)], "ground"]
    for name, at in zip(names[1:-1], ends[1:-1], strict=True):
        model.body(name, **BOX, position=at)
    for k in range(n + 1):
        if kind == "spring":
            model.spring(f"part {k}", names[k], names[k + 1], ends[k], ends[k + 1], stiffness=1.0)
        else:
            model.joint(f"part {k}", "distance", names[k], names[k + 1], at=ends[k], at_b=ends[k + 1])
    system = System(model)
    code = {slot.name: slot.code for slot in system.slots}
    found = tangent(model, device, {(f"part {k}", code[f"part {k}"]): -T for k in range(n + 1)})
    across = -T / L * (2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1))
    expected = np.zeros((n, 6, n, 6))
    expected[:, 1, :, 1] = expected[:, 2, :, 2] = across
    assert found == pytest.approx(expected.reshape(6 * n, 6 * n), abs=1e-12 * T / L)


def test_force_in_the_closure_of_a_four_bar(device: str) -> None:
    """Rows that hold the end of a chain at a point have Jᵀ λ = ∂(λ · p)/∂q: G = λ · ∂²p/∂q².

    Turns about y by angles from the z axis: p = Σ l_k (sin θ_k, cos θ_k), θ_k the sum of the joints' up to k.
    """
    lengths, angles, lam = np.array([0.2, 0.5, 0.4]), np.array([0.3, 1.1, 2.6]), {0: 4.0, 2: -7.0}
    arms = lengths[:, None] * np.array([[np.sin(a), 0.0, np.cos(a)] for a in angles])
    pins = np.vstack([np.zeros(3), np.cumsum(arms, axis=0)])
    model = im.Model("four-bar", gravity=(0.0, 0.0, 0.0))
    names = ["ground", "crank", "coupler", "rocker"]
    for k, name in enumerate(names[1:]):
        model.body(name, **BOX, position=(pins[k] + pins[k + 1]) / 2)
        model.joint(f"pin {k}", "revolute", names[k], name, at=pins[k], axis=Y)
    closing = {"frame_a": (pins[3], (0, 0, 0, 1)), "frame_b": (arms[2] / 2, (0, 0, 0, 1))}
    model.joint("last", "spherical", "ground", "rocker", **closing, loop=True)
    locks = [slot.code for slot in System(model).slots if slot.name == "last"][:3]
    found = tangent(model, device, {("last", locks[axis]): size for axis, size in lam.items()})
    # ∂²p/∂q_i ∂q_j = -Σ of the arms that both joints turn
    expected = -np.array([[arms[max(i, j) :].sum(axis=0) @ [4.0, 0.0, -7.0] for j in range(3)] for i in range(3)])
    assert found == pytest.approx(expected, abs=1e-14 * 7.0)


def sprung() -> im.Model:
    """A ring of bodies on joints with springs, stretched springs between them, a gear and loads."""
    rng = np.random.default_rng(5)
    model = im.Model("sprung", gravity=(1.0, -2.0, -G))
    for k in range(4):
        model.body(f"body {k}", **BOX, position=rng.normal(size=3))
    at = rng.normal(size=(6, 3))
    model.joint("a", "revolute", "ground", "body 0", at=at[0], axis=(1, 2, 3), stiffness=3.0, rest=0.4)
    model.joint("b", "prismatic", "body 0", "body 1", at=at[1], axis=(3, 1, 2), stiffness=20.0, rest=-0.2)
    model.joint("c", "universal", "body 1", "body 2", at=at[2], axis=(1, 0, 1), axis2=(-1, 1, 1))
    model.joint("d", "spherical", "body 2", "body 3", at=at[3], axis=(0, 0, 1))
    model.coupling("gear", "a", "b", ratio=0.3)
    model.spring("cord", "body 0", "body 3", at[4], at[5], stiffness=15.0, free_length=0.5)
    model.spring("rope", "ground", "body 2", (0, 0, 3), at[3], stiffness=7.0, free_length=0.2)
    model.load("push", "body 1", force=(1.0, 2.0, 3.0), at=at[0])
    model.load("thrust", "body 3", force=(2.0, 0.0, -1.0), torque=(0.0, 0.5, 0.5), frame="body", at=at[1])
    return model


def test_all_forces_together(device: str) -> None:
    """Differences of springs, weights, loads and held row forces, free bodies displaced: -Cᵀ k C + G.

    A central difference over 2 ε errs by ε² / 6 of the third derivative and 1e-16 / ε by rounding: at 1e-5, 1e-10.
    """
    mechanism = Mechanism(sprung(), device=device)
    system, here, step = mechanism.system, mechanism.snapshot(), 1e-5
    rows = [row.slot for row in mechanism.rows]
    lam = np.random.default_rng(6).normal(size=len(rows))
    balance = mechanism.balance()
    force = mechanism.state.read("impulse").copy()  # over a nominal step of 1 s
    soft = [r for r, slot in enumerate(system.slots) if slot.kind in (COMPLIANCE, SPRING)]
    assert len(soft) == 4
    assert np.abs(force[soft]).min() > 0.1
    force[rows] += lam[:, None]
    stretches = {}

    def felt(change: np.ndarray) -> np.ndarray:
        mechanism.restore(here)
        mechanism.move(change)
        balance = mechanism.balance()
        stretches[tuple(change)] = -mechanism.state.read("impulse")[soft, 0].copy() / stiffness
        return balance.force + balance.J.T @ lam

    stiffness = system.parameter("slot_a")[soft, 0]
    assert len(balance.force) == 24
    whole, C = np.zeros((24, 24)), np.zeros((4, 24))
    for k in range(24):
        change = np.zeros(24)
        change[k] = step
        whole[:, k] = (felt(change) - felt(-change)) / (2 * step)
        C[:, k] = (stretches[tuple(change)] - stretches[tuple(-change)]) / (2 * step)
    mechanism.restore(here)
    found = geometric_tangent(system, mechanism.state, mechanism.work, force)[0]
    assert np.abs(found).max() > 1.0
    assert found - C.T @ np.diag(stiffness) @ C == pytest.approx(whole, abs=1e-8)
