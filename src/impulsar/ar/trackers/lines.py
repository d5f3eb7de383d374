"""The digitizer arm's line protocol.

Lines of ASCII over a serial line, 115,200 baud, 8 bits, no parity, one stop bit, each ended by CR LF:

    $I,1,SERIAL,COUNTS*CCCC                              who it is: version, serial number, counts of a turn
    $A,SEQ,MICROSECONDS,C1,C2,C3,C4,C5,BUTTONS*CCCC      a sample

The host sends `?` and LF to be told who the arm is; samples come by themselves. SEQ counts samples from 0 to 65535 and
begins again, MICROSECONDS is the arm's own clock modulo 2³², C1 to C5 are the encoders' signed counts from the arm's
zero, BUTTONS is a sum of 1, 2, 4, ... CCCC is the CRC-16 (polynomial 0x1021, start 0) of what is between $ and *, in
hexadecimal. What does not fit is left out and counted.
"""

from binascii import crc_hqx
from dataclasses import dataclass

SEQUENCE, CLOCK = 1 << 16, 1 << 32
LONGEST = 128  # bytes of a line
MOST_COUNTS = 100_000_000


@dataclass(frozen=True)
class Identity:
    """Who an arm is."""

    version: int
    serial: str
    counts: int


@dataclass(frozen=True)
class Sample:
    """What its encoders showed."""

    sequence: int
    microseconds: int
    counts: tuple[int, ...]
    buttons: int


def _line(body: str) -> bytes:
    return f"${body}*{crc_hqx(body.encode('ascii'), 0):04X}\r\n".encode("ascii")


def write_identity(identity: Identity) -> bytes:
    """The line of an identity."""
    return _line(f"I,{identity.version},{identity.serial},{identity.counts}")


def write_sample(sample: Sample) -> bytes:
    """The line of a sample."""
    numbers = (sample.sequence % SEQUENCE, sample.microseconds % CLOCK, *sample.counts, sample.buttons)
    return _line("A," + ",".join(map(str, numbers)))


class LineReader:
    """Bytes in, identities and samples out; `bad` counts what did not fit."""

    def __init__(self) -> None:
        self._rest = b""
        self.bad = 0

    def feed(self, data: bytes) -> list[Identity | Sample]:
        """Whole lines of what has come."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > LONGEST:  # a line that never ends
            self._rest = self._rest[-LONGEST:]
            self.bad += 1
        found = []
        for line in lines:
            record = _read(line)
            if record is None:
                self.bad += bool(line.strip())
            else:
                found.append(record)
        return found


def _read(line: bytes) -> Identity | Sample | None:
    """What a line says, or None."""
    start = line.rfind(b"$")  # a line that was cut off may stand before
    body, star, told = line[start + 1 :].strip().partition(b"*")
    if start < 0 or not star or len(body) > LONGEST or not body.isascii():
        return None
    if told.upper() != b"%04X" % crc_hqx(body, 0):
        return None
    kind, *fields = body.decode("ascii").split(",")
    try:
        if kind == "I" and len(fields) == 3:
            counts = int(fields[2])
            return Identity(int(fields[0]), fields[1], counts) if 100 <= counts <= MOST_COUNTS else None
        numbers = [int(each) for each in fields]
    except ValueError:
        return None
    if kind != "A" or len(numbers) != 8:
        return None
    sequence, microseconds, *counts_, buttons = numbers
    in_range = 0 <= sequence < SEQUENCE and 0 <= microseconds < CLOCK and 0 <= buttons < 256
    if not in_range or max(map(abs, counts_)) > MOST_COUNTS:
        return None
    return Sample(sequence, microseconds, tuple(counts_), buttons)
