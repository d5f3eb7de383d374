"""Self-calibration as a person does it: touches that are swivelled, from an arm's joints."""

from dataclasses import replace

import numpy as np
import pytest

from impulsar.ar import command, self_touches
from impulsar.ar.self_touches import spread, swivel
from impulsar.ar.trackers import TRACKERS, Tip
from impulsar.ar.trackers.arm import Arm
from impulsar.ar.trackers.kinematics import EXAMPLE, ArmTable, load_table, reach, tips
from impulsar.ar.trackers.pushed import Pointer
from impulsar.ar.trackers.simulator import HOME, SimulatedArm
from impulsar.author.errors import ModelError
from impulsar.cli import main
from impulsar.validate.digitizer_cases import first_axis_frame, judge, touch_cubes, with_errors

COUNTS = 12_000
QUANTISED = 0.116e-3  # rms of 12,000 counts alone [m]: FACTS.md


class Swivels(Pointer):
    """Touches at angles that an arm's encoders have, one group after the other, with the button down in each."""

    def __init__(self, groups: list[np.ndarray], table: ArmTable):
        super().__init__()
        self.table, self.serial = table, "A17"
        self._todo = []
        for angles in groups:
            self._todo += [self._tip(angles[0], False), *(self._tip(each, True) for each in angles)]
            self._todo.append(self._tip(angles[-1], False))

    def _tip(self, angles: np.ndarray, down: bool) -> Tip:
        return Tip(0.0, tips(self.table.array, angles), buttons=(down,), angles=angles)

    def poll(self) -> list[Tip]:
        self.set_status("ok")
        return [self._todo.pop(0)] if self._todo else super().poll()


def test_self_calibration_by_the_command_and_its_check(tmp_path, capsys, monkeypatch) -> None:
    """An arm with errors of 0.3 mm and 0.05°: the command leaves what its encoders' steps leave, all over the sphere;
    its check holds then, and does not with the table as it was made."""
    random = np.random.default_rng(3)
    true = first_axis_frame(with_errors(random, COUNTS))
    start, out = replace(EXAMPLE, counts=COUNTS), tmp_path / "arm.json"
    groups = [each.angles[12 * k : 12 * k + 12] for each in touch_cubes(random, true) for k in range(8)]
    monkeypatch.setitem(TRACKERS, "fake", lambda where: Swivels(groups if where != "one" else groups[:1], start))
    arguments = ["ar", "calibrate-tracker", "--self", "--out", str(out)]
    assert main([*arguments, "--tracker", "fake"]) == 0
    told = capsys.readouterr().out
    assert "place 6 of 6" in told and "576 touches" in told and "before" in told
    found = load_table(out)
    assert found.serial == "A17" and found.counts == COUNTS
    assert judge(start, true, random).rms > 0.2e-3
    assert judge(found, true, random).rms < 0.15e-3
    assert main([*arguments, "--tracker", "fake:one", "--check"]) == 0
    replace(start, serial="A17").save(out)
    assert main([*arguments, "--tracker", "fake:one", "--check"]) == 2
    assert "the tip wanders by" in capsys.readouterr().err


def path_of(point: np.ndarray, turns: int = 400) -> np.ndarray:
    """Angles on which the stylus goes round while the tip stays at a point."""
    angles, path = HOME, []
    for k in range(turns):
        wish = angles + 0.02 * np.array([0, 0, 0, np.cos(4 * np.pi * k / turns), np.sin(4 * np.pi * k / turns)])
        angles, off = reach(EXAMPLE, wish, point)
        assert off < 1e-9
        path.append(angles)
    return np.array(path)


class Line:
    """A port on which a simulated arm sends what is due by a clock."""

    def __init__(self, arm: SimulatedArm, clock: list[float]):
        self._arm, self._clock, self._k, self._waiting = arm, clock, 0, b""

    @property
    def in_waiting(self) -> int:
        while self._k <= min(self._clock[0], self._arm.duration) * self._arm.rate:
            self._waiting += self._arm.line(self._k)
            self._k += 1
        return len(self._waiting)

    def read(self, n: int) -> bytes:
        data, self._waiting = self._waiting[:n], self._waiting[n:]
        return data

    def write(self, data: bytes) -> None:
        pass

    def close(self) -> None:
        pass


def test_swivel_of_a_simulated_arm() -> None:
    """Over the serial line: the tips of what is kept are one point, but for the encoders' steps."""
    point = np.array([0.35, 0.1, 0.1])
    path = path_of(point)
    times = np.arange(len(path)) * 0.01
    down = (times > 0.2) & (times < times[-1] - 0.2)
    hand = [Tip(t, point, buttons=(bool(b),), angles=a) for t, b, a in zip(times, down, path, strict=True)]
    clock = [0.0]

    def now() -> float:
        clock[0] += 0.005
        return clock[0]

    table = replace(EXAMPLE, counts=COUNTS)
    found = swivel(Arm(lambda: Line(SimulatedArm(table, hand), clock), table, now), table, "it", lambda line: None)
    assert found.shape == (self_touches.ATTITUDES, 5)
    off = np.linalg.norm(tips(EXAMPLE.array, found) - point, axis=1)
    assert off.max() < 3 * QUANTISED


def test_swivels_that_say_too_little_are_asked_for_again() -> None:
    told: list[str] = []
    point = np.array([0.35, 0.1, 0.1])
    still, slipped = np.tile(HOME, (12, 1)), HOME + np.linspace(0, 0.5, 12)[:, None] * np.eye(5)[1]
    fine = path_of(point)
    found = swivel(Swivels([still, slipped, fine], EXAMPLE), EXAMPLE, "it", told.append)
    assert "tilted by 0° only" in told[1] and "slipped off" in told[2]
    np.testing.assert_array_equal(found, spread(fine, self_touches.ATTITUDES))


def test_trackers_without_joints_are_refused(monkeypatch) -> None:
    class Plain(Pointer):
        def poll(self) -> list[Tip]:
            self.down = not getattr(self, "down", True)
            return [Tip(0.0, np.zeros(3), buttons=(self.down,))]

    monkeypatch.setattr(command, "PATIENCE", 0.2)
    with pytest.raises(ModelError, match="no joints to calibrate"):
        swivel(Plain(), EXAMPLE, "it", lambda line: None)
