"""Trackers: the arm and its line, files, OSC, pointer and wand. What cannot be trusted is lost, with the reason."""

import json
import math
import socket
import subprocess
import sys
import time
from dataclasses import replace
from importlib.metadata import EntryPoint

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impulsar.ar.eye import Eye
from impulsar.ar.markers import single
from impulsar.ar.patterns import Marker
from impulsar.ar.status import Told
from impulsar.ar.synthetic import Renderer, SyntheticCamera, printed
from impulsar.ar.trackers import TRACKERS, Collimated, Tip, open_tracker
from impulsar.ar.trackers import arm as arms
from impulsar.ar.trackers.arm import SILENCE, STEADY, Arm
from impulsar.ar.trackers.kinematics import (
    EXAMPLE,
    ArmTable,
    bones,
    link_poses,
    load_table,
    reach,
    stylus,
    tip_jacobian,
    tips,
)
from impulsar.ar.trackers.lines import CLOCK, SEQUENCE, Identity, LineReader, Sample, write_identity, write_sample
from impulsar.ar.trackers.osc import ADDRESS, Osc, read_messages, write_message
from impulsar.ar.trackers.pushed import Pointer
from impulsar.ar.trackers.recorded import Recorder, Replay, read_tips
from impulsar.ar.trackers.simulator import HOME, Fault, SimulatedArm
from impulsar.ar.trackers.wand import COVERED, MarkerWand
from impulsar.author.errors import FileError, ModelError
from impulsar.plugins import PluginWarning, Registry
from impulsar.validate.marker_cases import LENS, facing

# kinematics -------------------------------------------------------------------------------------------


def test_tip_of_the_example_in_closed_form():
    """θ = 0: the stylus hangs; θ3 = 90°: stretched; and one pose by hand."""
    for angles, tip in (
        ((0, 0, 0, 0, 0), (0.26, 0.0, -0.16)),
        ((0, 0, math.pi / 2, 0, 0), (0.63, 0.0, 0.21)),
        ((math.pi / 2, 0, math.pi / 2, 0, 0), (0.0, 0.63, 0.21)),
        ((0.3, 0.4, 1, -0.5, 0.7), (0.548400, 0.211668, 0.325984)),
    ):
        np.testing.assert_allclose(tips(EXAMPLE.array, np.array(angles, float)), tip, atol=5e-7)


def test_bones_lead_from_the_base_to_the_tip():
    """Stretched: the shoulder above the base, then links of 0.26, 0.24 and 0.13 m in a line; one ends where the next
    begins."""
    ends = bones(link_poses(EXAMPLE.array, np.array([0, 0, math.pi / 2, 0, 0])))
    knots = [(0, 0, 0), (0, 0, 0.21), (0, 0, 0.21), (0.26, 0, 0.21), (0.5, 0, 0.21), (0.5, 0, 0.21), (0.63, 0, 0.21)]
    np.testing.assert_allclose(ends[:, 0], knots[:-1], atol=1e-15)
    np.testing.assert_allclose(ends[:, 1], knots[1:], atol=1e-15)


def test_rows_are_products_of_elementary_motions():
    """Rot_x(α) Trans_x(a) Rot_y(β) Rot_z(θ) Trans_z(d), multiplied out by SciPy."""
    from scipy.spatial.transform import Rotation

    random = np.random.default_rng(0)
    rows, angles = random.uniform(-1, 1, (6, 5)), random.uniform(-1, 1, 5)
    X = np.eye(4)
    for k, (alpha, a, d, theta0, beta) in enumerate(rows):
        theta = theta0 + (angles[k] if k < 5 else 0.0)
        for axis, angle, along in (("x", alpha, a), ("y", beta, 0.0), ("z", theta, d)):
            step = np.eye(4)
            step[:3, :3] = Rotation.from_euler(axis, angle).as_matrix()
            step["xyz".index(axis), 3] = along
            X = X @ step
    np.testing.assert_allclose(stylus(rows, angles), X, atol=1e-14)


def test_jacobian_and_reach():
    random, low_high = np.random.default_rng(1), np.array(EXAMPLE.limits).T
    angles = random.uniform(*low_high, (50, 5))
    h = 1e-6 * np.eye(5)
    rows = EXAMPLE.array
    rates = [(tips(rows, angles + each) - tips(rows, angles - each)) / 2e-6 for each in h]
    np.testing.assert_allclose(tip_jacobian(rows, angles), np.stack(rates, axis=-1), atol=1e-9)
    targets = np.array([0.3, 0.0, 0.2]) + random.uniform(-0.1, 0.1, (50, 3))
    found, off = reach(EXAMPLE, np.tile(HOME, (50, 1)), targets)
    assert off.max() < 1e-9 and np.abs(tips(rows, found) - targets).max() < 1e-9


def test_quantisation_is_what_the_counts_say():
    """FACTS: 12,000 counts give 0.1 mm rms and at most π/C times the sum of the levers, 0.34 mm."""
    angles = np.random.default_rng(2).uniform(*np.array(EXAMPLE.limits).T, (20_000, 5))
    off = np.linalg.norm(
        tips(EXAMPLE.array, EXAMPLE.angles(EXAMPLE.encode(angles))) - tips(EXAMPLE.array, angles), axis=1
    )
    assert 0.08e-3 < np.sqrt(np.mean(off**2)) < 0.12e-3 and off.max() < 0.34e-3


def test_table_file(tmp_path):
    table = replace(EXAMPLE, serial="A17", counts=40_000)
    table.save(tmp_path / "arm.json")
    assert load_table(tmp_path / "arm.json") == table
    data = json.loads((tmp_path / "arm.json").read_text())
    for key, value, told in (
        ("rows", data["rows"][:5], "expected 6 rows"),
        ("counts", 3, "counts is 3"),
        ("limits", [[1, 0]] * 5, "a lower and an upper angle"),
        ("rows", None, "'arm.json'|arm.json"),
    ):
        (tmp_path / "arm.json").write_text(json.dumps(data | {key: value}))
        with pytest.raises(FileError, match=told):
            load_table(tmp_path / "arm.json")
    with pytest.raises(ModelError, match="all finite"):
        ArmTable(((math.nan,) * 5,) * 6)


# lines ------------------------------------------------------------------------------------------------

SAMPLE = Sample(17, 123_456, (1, -2, 300, 0, 5), 2)


def test_lines_come_back():
    reader = LineReader()
    data = write_identity(Identity(1, "A17", 40_000)) + write_sample(SAMPLE)
    assert reader.feed(data[:20]) + reader.feed(data[20:]) == [Identity(1, "A17", 40_000), SAMPLE]
    assert reader.bad == 0
    body, crc = b"A,17,123456,1,-2,300,0,5,2", 0
    for byte in body:  # as a device computes it
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xFFFF
    assert write_sample(SAMPLE) == b"$%s*%04X\r\n" % (body, crc)


def test_every_changed_byte_is_noticed():
    """A CRC of 16 bits finds every error of up to 16 bits in a row."""
    line = write_sample(SAMPLE)
    for k in range(1, len(line) - 2):
        for bit in range(8):
            changed = bytearray(line)
            changed[k] ^= 1 << bit
            found = LineReader().feed(bytes(changed))
            # a letter of the CRC in another case is the same number
            assert found in ([], [SAMPLE]) and (not found or bytes(changed).upper() == line)


@given(st.lists(st.binary(max_size=300), max_size=8))
def test_garbage_says_nothing(parts):
    reader = LineReader()
    for part in parts:
        assert reader.feed(part.replace(b"$", b"")) == []
    assert len(reader._rest) <= 300
    assert reader.feed(b"\n" + write_sample(SAMPLE)) == [SAMPLE]


# the arm ----------------------------------------------------------------------------------------------


class Line:
    """A serial port whose other end is a test."""

    def __init__(self):
        self.waiting, self.sent, self.gone = b"", b"", False

    @property
    def in_waiting(self):
        if self.gone:
            raise OSError("device disconnected")
        return len(self.waiting)

    def read(self, count):
        data, self.waiting = self.waiting[:count], self.waiting[count:]
        return data

    def write(self, data):
        self.sent += data

    def close(self):
        pass


class Bench:
    """An arm at a line, and a clock that the test moves."""

    def __init__(self, table=EXAMPLE):
        self.now, self.line, self.k, self.told = 100.0, Line(), 0, []
        self.arm = Arm(lambda: self.line, table, lambda: self.now)
        self.arm.watch = lambda status: self.told.append((status.state, status.why))
        self.arm.poll()

    def send(self, angles=HOME, dt=0.002, shift=0, clock=None, buttons=0):
        """One more sample after dt; what the arm makes of it."""
        self.now += dt
        self.k += 1
        us = round((self.now - 100.0) * 1e6) if clock is None else clock
        counts = tuple(int(each) for each in EXAMPLE.encode(np.array(angles)))
        self.line.waiting += write_sample(Sample((self.k + shift) % SEQUENCE, us % CLOCK, counts, buttons))
        return self.arm.poll()

    def settle(self, **options):
        return [tip for _ in range(STEADY + 1) for tip in self.send(**options)]


def test_arm_gives_stamped_tips():
    bench = Bench()
    assert bench.line.sent == b"?\n"
    found = bench.settle(buttons=1)
    X = stylus(EXAMPLE.array, EXAMPLE.angles(EXAMPLE.encode(HOME)))
    assert len(found) == 2 and bench.arm.status.is_ok
    np.testing.assert_allclose(found[-1].position, X[:3, 3], atol=1e-15)
    assert found[-1].time == pytest.approx(bench.now, abs=1e-5) and found[-1].buttons == (True, False)


def test_arm_knows_its_links_while_it_is_trusted():
    """Base, upper arm, forearm and stylus, which ends at the tip; none once it is silent."""
    bench = Bench()
    assert bench.arm.links() == []
    tip = bench.settle()[-1]
    links = bench.arm.links()
    lengths = [float(np.linalg.norm(link.end - link.start)) for link in links]
    assert lengths == pytest.approx([0.21, 0.26, 0.24, 0.13])
    np.testing.assert_allclose(links[-1].end, tip.position, atol=1e-15)
    bench.now += 1.0
    bench.arm.poll()
    assert bench.arm.links() == []


def test_stamps_are_those_of_the_arms_clock():
    """Lines that are held up by up to 20 ms are stamped as they were measured, once one came quickly."""
    bench, random = Bench(), np.random.default_rng(0)
    bench.settle()
    for k in range(200):
        sent = bench.now + 0.002
        delay = random.uniform(0, 0.02)
        bench.now = sent + delay
        bench.k += 1
        counts = tuple(int(each) for each in EXAMPLE.encode(HOME))
        bench.line.waiting += write_sample(Sample(bench.k, round((sent - 100.0) * 1e6), counts, 0))
        (tip,) = bench.arm.poll()
        bench.now = max(sent, bench.now)
        assert abs(tip.time - sent) < 2e-3 or k < 5


def test_counts_and_wraps():
    """Sample numbers and microseconds begin again after 2^16 and 2^32; nothing is lost there."""
    bench = Bench()
    bench.k = SEQUENCE - 10
    bench.now += (CLOCK - 12_000) * 1e-6
    found = [tip for _ in range(20) for tip in bench.send()]
    assert len(found) == 20 - STEADY + 1 and bench.told == [("ok", "")]
    assert np.diff([tip.time for tip in found]) == pytest.approx(0.002, abs=1e-5)


def test_arm_that_counts_otherwise():
    bench = Bench()
    bench.line.waiting += write_identity(Identity(1, "B2", 40_000))
    bench.arm.poll()
    assert bench.arm.table.counts == 40_000
    bench = Bench(replace(EXAMPLE, serial="A1"))
    bench.line.waiting += write_identity(Identity(1, "B2", 12_000))
    bench.arm.poll()
    assert bench.told == [("lost", "arm B2 is connected, the table is of A1; calibrate it")]


@pytest.mark.parametrize(
    "fault, why",
    [
        (lambda b: b.send((0.0, 0.6, 4.0, 0.3, 0.6)), "joint 3 is at 229.2°, its range is -60°, 150°"),
        (lambda b: b.send(HOME + np.array([0.5, 0, 0, 0, 0])), "the tip jumped by"),
        (lambda b: b.send(clock=round((b.now - 40.0) * 1e6)), "the arm's clock jumped by"),
        (lambda b: b.send(clock=1), "the arm's clock jumped by"),
        (lambda b: b.send(shift=-50), "the arm's count of samples went back"),
        (lambda b: [b.send(clock=8000) for _ in range(200)], "the arm's clock stands still"),
    ],
)
def test_what_does_not_fit_loses_the_arm(fault, why):
    bench = Bench()
    bench.settle()
    fault(bench)
    assert bench.told[-1][0] == "lost" and why in bench.told[-1][1]
    after = [bench.send() for _ in range(8)]
    assert after[0] == [] and bench.arm.status.is_ok
    assert after[-1][0].time == pytest.approx(bench.now, abs=1e-3)


def test_no_tip_is_given_of_a_joint_out_of_range():
    bench = Bench()
    bench.settle()
    assert [bench.send((0.0, 0.6, 4.0, 0.3, 0.6)) for _ in range(10)] == [[]] * 10
    assert [state for state, _ in bench.told] == ["ok", "lost"]


def test_line_that_is_held_up_and_clock_that_stood_still():
    """Samples that come a second late give no tip, and the next in time have the right stamps; a clock that stays
    behind is taken as it is after a while."""
    bench = Bench()
    bench.settle()
    for _ in range(500):  # sent while nobody read
        bench.now += 0.002
        bench.k += 1
        counts = tuple(int(each) for each in EXAMPLE.encode(HOME))
        bench.line.waiting += write_sample(Sample(bench.k, round((bench.now - 100.0) * 1e6), counts, 0))
    found = bench.arm.poll()
    assert "s late: the line was held up" in bench.told[-2][1] and bench.arm.status.is_ok
    assert len(found) < 150 and found[-1].time == pytest.approx(bench.now, abs=2e-3)
    bench.now += 1.0
    behind = [bench.send(clock=round((bench.now + 0.002 - 101.0) * 1e6)) for _ in range(1200)]
    assert not any(behind[:450]) and behind[-1][0].time == pytest.approx(bench.now, abs=2e-3)


def test_silence_and_garbage():
    bench = Bench()
    bench.settle()
    for _ in range(60):
        bench.now += 0.01
        bench.line.waiting += b"\xff\x00$A,1,2\n"
        assert bench.arm.poll() == []
    state, why = bench.told[-1]
    assert state == "lost" and f"silent for {SILENCE:g} s; " in why and "lines were garbled" in why
    assert bench.settle() and bench.arm.status.is_ok


def test_a_sample_that_came_twice_is_one():
    bench = Bench()
    bench.settle()
    bench.k -= 1
    assert bench.send() == [] and bench.arm.status.is_ok


def test_unplugged_and_back():
    bench = Bench()
    bench.settle()
    bench.line.gone = True
    assert bench.arm.poll() == []
    assert "the arm's port is gone: device disconnected" in bench.told[-1][1]
    bench.line = Line()
    bench.now += 0.1
    bench.arm.poll()
    assert not bench.arm.status.is_ok and bench.line.sent == b""
    bench.now += arms.RETRY
    bench.arm.poll()
    assert bench.line.sent == b"?\n" and bench.settle() and bench.arm.status.is_ok


def test_hosts_clock_set_back():
    bench = Bench()
    bench.settle()
    bench.now -= 50.0
    assert bench.arm.poll() == []
    assert bench.told[-1] == ("lost", "this computer's clock was set back")


# a second process -------------------------------------------------------------------------------------


def hand(seconds=1.2, rate=100):
    """A circle of 4 cm, the button down in its second half."""
    times = np.arange(int(seconds * rate) + 1) / rate
    centre = tips(EXAMPLE.array, HOME)
    circle = 0.04 * np.stack([np.cos(4 * times) - 1, np.sin(4 * times), 0 * times], axis=1)
    return [Tip(t, centre + p, buttons=(bool(t > seconds / 2),)) for t, p in zip(times, circle, strict=True)]


def write_hand(path, tips_):
    lines = [{"kind": "impulsar tips", "version": 1}, *(tip.data() for tip in tips_)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def read_simulator(tmp_path, *options, seconds=1.2):
    """Tips and statuses of an arm on a pseudo-terminal that another process writes."""
    write_hand(tmp_path / "hand.jsonl", hand(seconds))
    command = [sys.executable, "-m", "impulsar.ar.trackers.simulator", str(tmp_path / "hand.jsonl"), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        port = process.stdout.readline().strip()
        assert port.startswith("/dev/")
        arm = open_tracker(f"arm:{port}")
        told, found = [], []
        arm.watch = lambda status: told.append(status)
        end = time.monotonic() + seconds + 20
        while process.poll() is None and time.monotonic() < end:
            found += arm.poll()
            time.sleep(0.002)
        arm.close()
        assert process.wait(5) == 0
    return found, told


@pytest.mark.timed  # stamps are of when a line is read
def test_arm_on_a_pseudo_terminal(tmp_path):
    """Tips are those of the hand to the encoders' resolution, stamps those of the motion but for one delay."""
    pytest.importorskip("serial")
    found, told = read_simulator(tmp_path)
    path = hand()
    t = np.array([tip.time for tip in found]) - found[0].time
    at = np.array([tip.position for tip in found])
    true = np.array([tip.position for tip in path])
    starts = np.arange(0, 0.2, 0.002)
    off = [
        np.abs(at - np.stack([np.interp(t + s, [p.time for p in path], column) for column in true.T], axis=1)).max()
        for s in starts
    ]
    assert told[0].state == "ok" and len(found) > 300
    assert min(off) < 2e-3  # counts of 0.33 mm, and stamps that the machine's delays put off by 10 ms at 0.16 m/s
    assert {tip.buttons[0] for tip in found} == {False, True}


@pytest.mark.parametrize("fault", ["garbage", "silence", "range", "clock", "restart", "crc"])
def test_faults_on_a_pseudo_terminal(tmp_path, fault):
    """Lost and back; no tip is off the hand's path by more than a count."""
    pytest.importorskip("serial")
    found, told = read_simulator(tmp_path, "--fault", f"{fault}@0.4:0.4")
    states = [status.state for status in told]
    assert states[:3] == ["ok", "lost", "ok"], told
    centre = hand()[0].position - (0.04, 0, 0)
    at = np.array([tip.position for tip in found]) - centre
    assert np.abs(np.hypot(at[:, 0], at[:, 1]) - 0.04).max() < 0.4e-3 and np.abs(at[:, 2]).max() < 0.4e-3


def test_simulator_says_what_is_wrong(tmp_path):
    write_hand(tmp_path / "far.jsonl", [Tip(0.0, np.array([2.0, 0, 0]))])
    command = [sys.executable, "-m", "impulsar.ar.trackers.simulator", str(tmp_path / "far.jsonl")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and "out of the arm's reach by 1." in done.stderr
    done = subprocess.run([*command, "--fault", "fire@1"], capture_output=True, text=True)
    assert done.returncode == 2 and "expected KIND@START:DURATION" in done.stderr


def test_simulated_arm_with_errors_in_its_table():
    """What it sends are the true arm's angles: a perfect reader with the true table is on the path."""
    true = EXAMPLE.with_array(EXAMPLE.array + 1e-3)
    arm = SimulatedArm(replace(true, counts=10_000_000), hand(), (Fault("silence", 0.1, 0.1),))
    assert arm.line(60) == b""
    (sample,) = LineReader().feed(arm.line(0))
    at = tips(true.array, arm.table.angles(np.array(sample.counts)))
    np.testing.assert_allclose(at, hand()[0].position, atol=1e-6)


# files ------------------------------------------------------------------------------------------------


class Script(Told):
    """A tracker that gives what it is told."""

    def __init__(self, *polls):
        super().__init__()
        self.polls = list(polls)

    def poll(self):
        item = self.polls.pop(0) if self.polls else []
        if isinstance(item, str):
            self.set_status("lost", item, 5.0)
            return []
        if item:
            self.set_status("ok", time=item[-1].time)
        return item

    def close(self):
        self.set_status("ended", "closed")


def some(*times):
    return [Tip(t, np.array([t, 2 * t, -t]), np.array([0.6, 0.0, 0.0, 0.8]), (t > 2, False)) for t in times]


def test_record_and_replay(tmp_path):
    """Bit for bit, with the loss in its place."""
    path = tmp_path / "tips.jsonl"
    recorder = Recorder(Script(some(1.0, 1.5), "dropped", some(2.5, 1 / 3 + 3)), path)
    given = [recorder.poll() for _ in range(3)]
    recorder.close()
    replay = Replay(path, pace=False)
    again, states = [], []
    for _ in range(4):
        again.append(replay.poll())
        states.append(replay.status.state)
    assert states == ["ok", "lost", "ok", "ended"] and again[1] == [] and again[3] == []
    for ours, theirs in zip((again[0], again[2]), (given[0], given[2]), strict=True):
        assert [tip.data() for tip in ours] == [tip.data() for tip in theirs]


def test_replay_keeps_pace(tmp_path):
    path = tmp_path / "tips.jsonl"
    write_hand(path, some(10.0, 10.5, 11.0))
    now = [50.0]
    replay = Replay(path, clock=lambda: now[0])
    assert [tip.time for tip in replay.poll()] == [50.0]
    assert replay.poll() == []
    now[0] = 50.9
    assert [tip.time for tip in replay.poll()] == [50.5]
    now[0] = 60.0
    assert [tip.time for tip in replay.poll()] == [51.0] and replay.poll() == [] and replay.status.state == "ended"


def test_recordings_that_are_none(tmp_path):
    path = tmp_path / "tips.jsonl"
    write_hand(path, some(1.0, 2.0))
    good = path.read_text().splitlines()
    cut = "\n".join([*good[:2], good[2][:30]])
    path.write_text(cut)
    assert len(read_tips(path)) == 1  # the power went while it was written
    for lines, told in (
        ([], "is empty"),
        (["{}", good[1]], "line 1: its kind is None"),
        ([good[0], "nonsense", good[1]], "line 2"),
        ([good[0], good[1].replace("0.8", "0.7"), good[2]], "line 2: expected finite numbers and a unit quaternion"),
        ([good[0], good[1].replace("[1.0, 2.0, -1.0]", "[1.0, NaN, 0]"), good[2]], "line 2: expected finite"),
    ):
        path.write_text("\n".join(lines))
        with pytest.raises(FileError, match=told):
            read_tips(path)


# OSC, pointer, wand -----------------------------------------------------------------------------------


def test_osc_tips():
    """Position alone, with attitude, with buttons, in a bundle; what is none is counted and loses nothing."""
    now = [5.0]
    tracker = Osc(0, clock=lambda: now[0])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        single_ = write_message(ADDRESS, [0.1, 0.2, 0.3])
        full = write_message(ADDRESS, [0.1, 0.2, 0.3, 0.6, 0.0, 0.0, 0.8], 2)
        bundle = b"#bundle\0" + bytes(8) + len(full).to_bytes(4, "big") + full
        bad = [
            b"", b"junk", full[:-3], write_message(ADDRESS, [math.nan, 0, 0]), write_message(ADDRESS, [1e6, 0, 0]),
            write_message(ADDRESS, [0, 0, 0, 1, 1, 0, 0]), b"#bundle\0" + bytes(8) + b"\xff\xff\xff\xff",
        ]  # fmt: skip
        for data in (single_, *bad, write_message("/other", [1.0]), full, bundle):
            sender.sendto(data, ("127.0.0.1", tracker.port))
        time.sleep(0.05)
        found = tracker.poll()
    assert [tip.buttons for tip in found] == [(False, False), (False, True), (False, True)]
    assert tracker.bad == len(bad) and tracker.status.is_ok
    np.testing.assert_allclose(found[1].orientation, (0.6, 0, 0, 0.8))
    now[0] = 6.0
    assert tracker.poll() == [] and tracker.status.state == "lost" and "for 0.5 s" in tracker.status.why
    tracker.close()


@given(st.binary(max_size=200))
def test_osc_packets_of_anything(data):
    """Read, or a ValueError or struct.error, which the tracker counts."""
    import struct

    try:
        read_messages(data)
        read_messages(b"#bundle\0" + data)
    except (ValueError, struct.error):
        pass


def test_pointer():
    pointer = Pointer(clock=lambda: 3.0)
    assert pointer.poll() == [] and pointer.status.state == "waiting"
    pointer.put((1, 2, 3), buttons=(True,))
    assert pointer.status.is_ok and [list(tip.position) for tip in pointer.poll()] == [[1, 2, 3]]
    pointer.put((1, 2, 4))
    pointer.lose("the headset was taken off")
    assert pointer.poll() == [] and pointer.status.why == "the headset was taken off"
    with pytest.raises(ModelError, match="pointer: position"):
        pointer.put((1, math.nan, 0))
    with pytest.raises(ModelError, match="expected a unit quaternion"):
        pointer.put((1, 2, 3), (1, 1, 0, 0))


def test_wand_in_the_room():
    """The camera moves, the wand moves: the tip is in the room's frame, and lost with either marker."""
    pytest.importorskip("cv2")
    room, wand = Marker(1, 0.06), Marker(2, 0.05)
    p_MS = np.array([0.0, -0.06, 0.01])

    def place(t):
        X_RM = np.eye(4)
        X_RM[:3, 3] = (0.1, 0.02 * t, 0.03)
        return X_RM

    def sheets(t):
        hidden = 0.5 < t < 1.0
        return [printed(room)] + ([] if hidden else [printed(wand, place(t))])

    camera = SyntheticCamera(
        Renderer(LENS), sheets, lambda t: facing((-0.04 + 0.02 * t, 0.0, 0.45), 0.5, 0.4 + 0.1 * t), 20.0, pace=False
    )
    tracker, told = MarkerWand(camera, single(wand), p_MS, single(room)), []
    tracker.watch = lambda status: told.append(status.state)
    times = []
    for _ in range(30):
        for tip in tracker.poll():
            t = tip.time - camera._began
            times.append(t)
            assert np.linalg.norm(tip.position - (place(t)[:3, 3] + p_MS)) < 0.5e-3
    assert told == ["ok", "lost", "ok"] and not any(0.5 < t < 1.0 for t in times) and len(times) == 21
    tracker.close()
    assert tracker.status.state == "ended"


def test_wand_seen_by_the_eye():
    """Room, wand and its button in one picture: the tip is in the room's frame, a covered button is down, and a wand
    that is found again holds nothing until its button was covered anew."""
    pytest.importorskip("cv2")
    room, p_MS = Marker(1, 0.06), np.array([0.0, -0.06, 0.01])
    place, beside = np.eye(4), np.eye(4)
    place[:3, 3], beside[:3, 3] = (0.1, 0.02, 0.03), (0.1, 0.08, 0.03)

    def sheets(t):
        wand = [] if 1.3 < t < 1.7 else [printed(Marker(4, 0.04), place)]
        button = [] if 0.4 < t < 0.8 or t > 1.0 else [printed(Marker(5, 0.03), beside)]
        return [printed(room), *wand, *button]

    view = facing((0.03, 0.02, 0.45), 0.3, 0.2)
    camera = SyntheticCamera(Renderer(LENS), sheets, lambda t: view, 20.0, pace=False)
    eye, tracker, told = Eye(camera, single(room)), open_tracker("wand:4,40,0,-60,10"), []
    tracker.watch = lambda status: told.append((status.state, status.why))
    tracker.look_through(eye)
    down, up = [], []
    for _ in range(40):
        sight = eye.look()
        for action in eye._watch:
            action(sight)
        for tip in tracker.poll():
            t = tip.time - camera._began
            (down if tip.buttons[0] else up).append(t)
            assert np.linalg.norm(tip.position - (place[:3, 3] + p_MS)) < 0.5e-3
    assert [state for state, _ in told] == ["ok", "lost", "ok"] and "marker 4 is not in the picture" in told[1][1]
    assert all(0.4 + COVERED < t < 0.8 or 1.0 + COVERED < t < 1.31 or t > 1.7 + COVERED for t in down)
    assert any(0.6 < t < 0.8 for t in down) and any(1.2 < t < 1.31 for t in down)
    assert any(0.8 < t < 1.0 for t in up) and any(1.7 < t < 1.8 for t in up)
    with pytest.raises(ModelError, match="4 and 5 are its own and its button"):
        open_tracker("wand:4").look_through(Eye(camera, single(Marker(5, 0.06))))
    eye.camera.close()
    tracker.poll()
    assert tracker.status.state == "ended"


def test_collimated():
    """Tips in the world: X_WT on position and attitude."""
    X_WT = np.eye(4)
    X_WT[:3, :3], X_WT[:3, 3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]], (1, 2, 3)
    tracker = Collimated(Script(some(1.0)), X_WT)
    (tip,) = tracker.poll()
    np.testing.assert_allclose(tip.position, (-1, 3, 2))
    h = math.sqrt(0.5)
    np.testing.assert_allclose(tip.orientation, (0.6 * h, 0.6 * h, 0.8 * h, 0.8 * h), atol=1e-15)


# names ------------------------------------------------------------------------------------------------


def test_trackers_by_name():
    assert {"arm", "osc", "file"} <= set(TRACKERS)
    for text, told in (
        ("arn:x", "did you mean 'arm'"),
        ("arm:", "name its port"),
        ("osc:x", "expected a UDP port"),
        ("wand:stick", "expected wand:NUMBER"),
        ("wand:3,40,0,0", "expected wand:NUMBER"),
        ("file:/none.jsonl", "cannot be read"),
    ):
        with pytest.raises(ModelError, match=told):
            open_tracker(text)


def test_trackers_of_other_packages(monkeypatch):
    """By entry points; what is no function is left out with the reason."""
    import importlib.metadata

    entries = [
        EntryPoint("mouse", "impulsar.ar.trackers.pushed:Pointer", "impulsar.trackers"),
        EntryPoint("number", "math:pi", "impulsar.trackers"),
    ]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: entries)
    registry = Registry("impulsar.trackers", {}, TRACKERS._check)
    with pytest.warns(PluginWarning, match=r"'number'.*expected a function of a text"):
        assert list(registry) == ["mouse"]
    assert isinstance(registry["mouse"]("x"), Pointer)
