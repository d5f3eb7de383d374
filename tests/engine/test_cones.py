"""Rows that come and go, bounded together by another row's impulse, against closed forms."""

import numpy as np
import pytest
import warp as wp

import impulsar as im
from impulsar.engine.constrain.frames import Pair
from impulsar.engine.constrain.rows import add_pair, clear_row, respond, set_row
from impulsar.engine.constrain.topology import append_row, bind_cone, list_rows
from impulsar.engine.coordinates.tree import articulate, kinematics
from impulsar.engine.report import start_report
from impulsar.engine.solve.cones import share_cone_mass
from impulsar.engine.solve.sweep import sweep, warm_start
from impulsar.engine.spatial import INFINITY, ONE, ZERO, axis_of, f64, vec3, zero3
from impulsar.engine.state import State, StateArrays, WorkArrays, allocate_work
from impulsar.engine.system import System, SystemArrays
from impulsar.engine.system.measured import ROWS_LEFT_OUT
from impulsar.validate.poison import poison
from impulsar.world.reports import StepReport

MASS, RADIUS = 2.0, 0.3
INERTIA = 0.4 * MASS * RADIUS**2  # of a ball
NO_KIND = wp.constant(99)  # of rows that this file fills itself


@wp.kernel(enable_backward=False)
def contact_kernel(m: SystemArrays, s: StateArrays, x: WorkArrays, mu: wp.array(dtype=f64), arm: f64, contacts: int):
    """A body on a plane: a normal row and two of friction at a point below its centre; sweeps until nothing changes."""
    w = wp.tid()
    start_report(x, w)
    list_rows(m, x, w)
    kinematics(m, s, x, ZERO, w)
    articulate(m, x, w)
    pair = Pair()
    pair.first = -1
    pair.second = 0
    pair.turn = zero3()
    pair.point = x.p_WB[0, w] - vec3(ZERO, ZERO, arm)
    rows = int(0)
    for _ in range(contacts):
        first = int(-1)
        for k in range(3):
            r = append_row(m, x, NO_KIND, 0, -1, 0, ONE, w)
            if r < 0:
                continue
            clear_row(x, r, w)
            pair.slide = axis_of((k + 2) % 3)  # z, x, y
            add_pair(m, x, r, pair, ONE, w)
            if k == 0:
                set_row(x, r, ZERO, ZERO, ZERO, INFINITY, ZERO, w)
            else:
                set_row(x, r, ZERO, ZERO, -mu[w], mu[w], ZERO, w)
            respond(m, x, r, ZERO, w)
            x.solved[r, w] = int(0)
            x.active[rows, w] = r
            rows += 1
            if k == 0:
                first = r
            elif k == 2:
                bind_cone(x, first + 1, 2, first, w)
    share_cone_mass(x, rows, w)
    warm_start(m, s, x, rows, ONE, ONE, w)
    sweep(m, s, x, rows, ONE, f64(1e-15), 10000, 0, 0, w)


class Ground:
    """A free body with room for some rows, in as many worlds as there are velocities, its work arrays poisoned."""

    def __init__(self, room: int, speeds: list, device: str):
        model = im.Model("ball")
        model.body("ball", mass=MASS, inertia=(INERTIA,) * 3)
        self.system = System(model, len(speeds), device, hands=0, extra_rows=room)
        self.state = State(self.system.counts, device)
        self.work = allocate_work(self.system.counts, device)
        poison(self.work, "wrench", "tau")
        self.state.write("q", np.repeat(self.system.start_coordinates()[:, None], len(speeds), axis=1))
        self.state.write("v", np.array(speeds, float).T)

    def touch(self, mu, arm: float, contacts: int = 1) -> np.ndarray:
        """Velocities [v, w] of every world after the impulses."""
        device, worlds = self.system.device, self.system.counts.worlds
        given = wp.array(np.broadcast_to(np.asarray(mu, float), worlds).copy(), dtype=f64, device=device)
        inputs = [self.system.arrays, self.state.arrays, self.work, given, arm, contacts]
        wp.launch(contact_kernel, worlds, inputs=inputs, device=device)
        return self.state.read("v").T.copy()


def test_a_block_slides_or_sticks(device: str) -> None:
    """m Δv_z = p_n, |Δv_t| = min(μ p_n / m, |v_t|) against the slip, whichever way it goes: no pyramid."""
    down = -1.5
    angles = np.linspace(0.0, 2.0 * np.pi, 7)
    speeds = [[speed * np.cos(a), speed * np.sin(a), down, 0, 0, 0] for a in angles for speed in (0.2, 3.0)]
    ground = Ground(3, speeds, device)
    after = ground.touch(0.4, 0.0)
    slip = np.array([speed for _ in angles for speed in (0.2, 3.0)])
    left = np.maximum(slip - 0.4 * -down, 0.0)
    expected = np.array([[l * np.cos(a), l * np.sin(a), 0.0] for l, a in zip(left, np.repeat(angles, 2), strict=True)])
    assert after[:, :3] == pytest.approx(expected, abs=1e-13)
    p = ground.state.read("coming")
    assert p[0] == pytest.approx(-MASS * down, rel=1e-14)
    assert np.hypot(p[1], p[2]) == pytest.approx(MASS * np.minimum(slip, 0.4 * -down), rel=1e-12)


def test_a_ball_begins_to_roll(device: str) -> None:
    """At the foot of a ball 1/m + r²/I = 7/2 / m answers: it rolls at 5/7 of its speed, or keeps what μ p_n leaves."""
    down, speed, mu = -1.0, 2.0, np.array([0.05, 0.2, 0.9])
    after = Ground(3, [[speed, 0, down, 0, 0, 0]] * 3, device).touch(mu, RADIUS)
    push = np.minimum(mu * -down, 2.0 / 7.0 * speed)  # p_t / m
    assert after[:, 0] == pytest.approx(speed - push, abs=1e-13)
    assert after[:, 4] == pytest.approx(push * MASS * RADIUS / INERTIA, abs=1e-12)
    assert after[2, 0] == pytest.approx(after[2, 4] * RADIUS, abs=1e-12)  # it rolls


def test_without_a_normal_impulse_there_is_no_friction(device: str) -> None:
    """A body that leaves the plane is not held, and a warm start gives it nothing."""
    ground = Ground(3, [[1.0, -2.0, 0.5, 0, 0, 0]], device)
    ground.state.write("coming", np.array([[0.0], [3.0], [3.0]]))
    ground.state.write("last_h", np.ones((1, 1)))
    assert ground.touch(0.8, 0.0)[0] == pytest.approx([1.0, -2.0, 0.5, 0.0, 0.0, 0.0], abs=0)
    assert not ground.state.read("coming").any()


def test_rows_without_room_are_counted(device: str) -> None:
    """Three contacts need nine rows; with room for four the first holds and five rows are left out."""
    ground = Ground(4, [[0.0, 0.0, -1.0, 0, 0, 0]], device)
    assert ground.touch(0.5, 0.0, contacts=3)[0, 2] == pytest.approx(0.0, abs=1e-13)
    report = ground.work.report.numpy()
    assert report[ROWS_LEFT_OUT, 0] == 5
    assert ground.touch(0.5, 0.0, contacts=1)[0, 2] == pytest.approx(0.0, abs=1e-13)
    assert ground.work.report.numpy()[ROWS_LEFT_OUT, 0] == 0


def test_a_report_tells_of_rows_left_out() -> None:
    """`overflows` is empty while everything fits, and says which world needs how much."""
    report = im.World(im.scene("four-bar"), worlds=2).step()
    assert report.overflows == ()
    raw = report.raw.copy()
    raw[ROWS_LEFT_OUT, 1] = 5
    assert StepReport(report._facts, report._count, 1, raw).overflows == (
        "world 1 has room for 0 rows beyond its slots and needs 5",
    )
