"""A digitizer arm that is computed, on a pseudo-terminal, as a process of its own.

    python -m impulsar.ar.trackers.simulator HAND.jsonl [--table ARM.json] [--rate 500] [--counts 12000]

The tip follows a recording of tips; what the encoders of the (perhaps faulty) arm of the table show is sent as
`lines.py` says. The first line of standard output is the name of the port. Faults, at a time [s] after the start, are
for tests: `--fault garbage@1.0:0.5` sends half a second of noise; others are silence, range, clock, restart and crc.
"""

import argparse
import os
import select
import sys
import time as wall
import tty
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ...author.errors import ModelError
from . import Tip
from .kinematics import EXAMPLE, ArmTable, load_table, reach
from .lines import Identity, Sample, write_identity, write_sample
from .recorded import read_tips

FAULTS = ("garbage", "silence", "range", "clock", "restart", "crc")
HOME = np.array([0.0, 0.6, 1.0, 0.3, 0.6])  # angles from which the tip's path is followed [rad]
OFF = 1e-6  # from the path, beyond which the arm cannot reach it [m]


@dataclass(frozen=True)
class Fault:
    """What goes wrong, from when and for how long [s]."""

    kind: str
    start: float
    duration: float

    def is_on(self, t: float) -> bool:
        """Whether it goes wrong now."""
        return self.start <= t < self.start + self.duration


def read_fault(text: str) -> Fault:
    """From KIND@START:DURATION."""
    kind, _, span = text.partition("@")
    start, _, duration = span.partition(":")
    try:
        fault = Fault(kind, float(start), float(duration or 0.2))
    except ValueError:
        fault = Fault("", 0.0, 0.0)
    if fault.kind not in FAULTS:
        raise ModelError(f"--fault {text!r}: expected KIND@START:DURATION, KIND one of {', '.join(FAULTS)}")
    return fault


def joint_path(table: ArmTable, hand: list[Tip]) -> np.ndarray:
    """Angles [n, 5] by which the arm's tip follows a hand: those of the recording, or such that each begins from the
    one before."""
    angles, path = HOME, []
    for tip in hand:
        if tip.angles is not None:
            angles = tip.angles
            path.append(angles)
            continue
        angles, off = reach(table, angles, tip.position)
        if off > OFF:
            angles, off = reach(table, HOME, tip.position)
        if off > OFF:
            raise ModelError(f"tip at {np.round(tip.position, 3)}: out of the arm's reach by {off:.3g} m")
        path.append(angles)
    return np.array(path)


class SimulatedArm:
    """What an arm that follows a hand sends at a time."""

    def __init__(self, table: ArmTable, hand: list[Tip], faults: tuple[Fault, ...] = (), rate: float = 500.0):
        if not hand:
            raise ModelError("simulated arm: the hand's recording has no tip")
        self.table, self.faults, self.rate, self._hand = table, faults, rate, hand
        self._path = joint_path(table, hand)
        self._times = np.array([tip.time for tip in hand]) - hand[0].time
        self.duration = float(self._times[-1])
        self._random = np.random.default_rng(0)
        self.identity = Identity(1, table.serial or "SIMULATED", table.counts)

    def line(self, k: int) -> bytes:
        """The k-th sample as bytes, with the fault of its time."""
        t = k / self.rate
        angles = np.array([np.interp(t, self._times, column) for column in self._path.T])
        tip = self._hand[int(np.searchsorted(self._times, t, side="right")) - 1]
        buttons = sum(1 << bit for bit, down in enumerate(tip.buttons) if down)
        sample = Sample(k, round(t * 1e6), tuple(int(each) for each in self.table.encode(angles)), buttons)
        for fault in self.faults:
            if fault.kind == "restart" and t >= fault.start:
                first = int(np.ceil(fault.start * self.rate))
                sample = replace(sample, sequence=k - first, microseconds=round((k - first) / self.rate * 1e6))
            elif fault.kind == "clock" and t >= fault.start:
                sample = replace(sample, microseconds=sample.microseconds + 60_000_000)
            elif fault.is_on(t):
                if fault.kind == "silence":
                    return b""
                if fault.kind == "garbage":
                    return self._random.bytes(40)
                if fault.kind == "crc":
                    return write_sample(sample).replace(b"$A,", b"$A,1")
                sample = replace(sample, counts=(*sample.counts[:2], 10 * self.table.counts, *sample.counts[3:]))
        return write_sample(sample)


def serve(arm: SimulatedArm) -> None:
    """Open a pseudo-terminal, tell its name, send what is due until the recording ends."""
    master, slave = os.openpty()
    tty.setraw(slave)
    print(os.ttyname(slave), flush=True)
    os.set_blocking(master, False)
    while not select.select([master], [], [], 0.1)[0]:  # nobody has asked who it is
        continue
    began, k = wall.monotonic(), 0
    while k <= arm.duration * arm.rate:
        if select.select([master], [], [], 0)[0] and b"?" in os.read(master, 256):
            _send(master, write_identity(arm.identity))
        due = int((wall.monotonic() - began) * arm.rate)
        for _ in range(max(0, due - k)):
            _send(master, arm.line(k))
            k += 1
        wall.sleep(0.5 / arm.rate)
    wall.sleep(0.5)  # what was sent last is read
    os.close(master)
    os.close(slave)


def _send(master: int, data: bytes) -> None:
    """A port that nobody reads loses what does not fit."""
    try:
        os.write(master, data)
    except BlockingIOError:
        return


def main(argv: list[str] | None = None) -> int:
    """Run the simulator."""
    parser = argparse.ArgumentParser(prog="impulsar.ar.trackers.simulator", description=__doc__.split("\n")[0])
    parser.add_argument("hand", metavar="HAND.jsonl", type=Path, help="recording of tips that the arm follows")
    parser.add_argument("--table", metavar="ARM.json", type=Path, help="the true arm; default: the example")
    parser.add_argument("--rate", metavar="HZ", type=float, default=500.0, help="samples a second; default 500")
    parser.add_argument("--counts", metavar="N", type=int, help="of an encoder's turn; default: the table's")
    parser.add_argument("--fault", metavar="KIND@START:DURATION", action="append", default=[], help=", ".join(FAULTS))
    args = parser.parse_args(argv)
    try:
        table = load_table(args.table) if args.table else EXAMPLE
        if args.counts:
            table = replace(table, counts=args.counts)
        hand = [item for item in read_tips(args.hand) if isinstance(item, Tip)]
        arm = SimulatedArm(table, hand, tuple(map(read_fault, args.fault)), args.rate)
    except ModelError as error:
        print(f"simulator: {error}", file=sys.stderr)
        return 2
    serve(arm)
    return 0


if __name__ == "__main__":
    sys.exit(main())
