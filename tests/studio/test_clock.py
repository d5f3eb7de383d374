"""The clock: whole steps, none lost, none invented, and the truth when they cannot be had."""

import math

import pytest

from impulsar.studio.clock import PATIENCE, SPEEDS, Clock


def drive(clock: Clock, seconds: float, cost: float, jitter: float = 0.0) -> tuple[int, float]:
    """Steps taken in so many seconds of wall time by a solver whose step costs `cost` [s]; and the time then."""
    now, taken = 0.0, 0
    while now < seconds:
        n = clock.turn(now)
        if n:
            clock.took(n, now, now + n * cost)
            taken += n
            now += n * cost
        now = max(now + 1e-4 + jitter, min(clock.due_at(1), now + clock.frame_interval))
    return taken, now


@pytest.mark.parametrize("speed", [SPEEDS[0], 0.1, 1.0, 7.3, SPEEDS[1]])
@pytest.mark.parametrize("dt", [0.01, 0.001, 0.0037])
def test_no_step_is_lost_or_invented(speed: float, dt: float) -> None:
    """n = floor(speed · t / dt) at any time, whatever the rhythm of the turns."""
    clock = Clock(dt, 0.0, speed)
    taken, now = drive(clock, 20.0, cost=0.1 * dt / speed, jitter=0.003)
    assert clock.owed(now) + taken == math.floor(now * speed / dt + 1e-9)
    assert clock.forgiven == 0
    assert not clock.slow


@pytest.mark.parametrize("factor", [0.5, 0.1])
def test_too_slow_a_solver_slows_time_and_says_so(factor: float) -> None:
    """Steps that cost dt / factor: simulated time runs at `factor`, no debt piles up, and it is told."""
    dt = 0.01
    clock = Clock(dt, 0.0)
    taken, now = drive(clock, 20.0, cost=dt / factor)
    assert clock.slow
    assert clock.factor == pytest.approx(factor, rel=0.05)
    assert taken * dt / now == pytest.approx(factor, rel=0.05)
    assert clock.owed(now) * dt <= PATIENCE + dt
    assert clock.forgiven + taken + clock.owed(now) == math.floor(now / dt + 1e-9)


def test_a_solver_that_recovers_is_not_called_slow_for_long() -> None:
    clock = Clock(0.01, 0.0)
    _, now = drive(clock, 5.0, cost=0.02)
    assert clock.slow
    end = now + 3.0
    while now < end:
        n = clock.turn(now)
        if n:
            clock.took(n, now, now + n * 1e-4)
        now += 0.01
    assert not clock.slow


def test_a_pause_owes_nothing() -> None:
    clock = Clock(0.01, 0.0)
    clock.restart(1000.0)
    assert clock.owed(1000.0) == 0
    assert clock.owed(1000.045) == 4


@pytest.mark.parametrize(("dt", "speed"), [(0.01, 1.0), (0.001, 1.0), (0.01, 0.01), (0.01, 100.0), (0.1, 1.0)])
def test_frames_come_at_video_rates(dt: float, speed: float) -> None:
    """Four steps per frame, between 25 and 60 frames per second."""
    assert 1 / 60 <= Clock(dt, 0.0, speed).frame_interval <= 1 / 25
    assert Clock(0.01, 0.0).frame_interval == pytest.approx(0.04)


def test_a_turn_is_short_where_steps_are_dear() -> None:
    """What a turn may take bounds how long an edit waits."""
    clock = Clock(0.01, 0.0)
    clock.took(1, 0.0, 0.03)
    assert clock.turn(1.0) == 1
