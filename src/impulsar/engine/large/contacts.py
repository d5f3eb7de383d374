"""Contacts of a large world on a device: found once a step, swept in sub-steps.

A step finds contacts and their colours, then takes sub-steps: kick, impulses given again, sweeps of velocities, joints
solved directly around them, drift, sweeps of positions. `Contacts` are those of balls alone, pile.py has other shapes.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import warp as wp

from ...author.errors import StepError
from ..spatial import f64, vec3
from . import motion, sweeps, touch
from .bench import Graphed, LargeBench

SHARE, SLOP = 0.2, 1e-3  # of an overlap that a sweep of positions takes off; left, of the least radius
COLOURS, COLOUR_BITS, ROUNDS = 63, 6, 64
LISTED = {"first": wp.int32, "second": wp.int32, "colour": wp.int32, "normal": f64, "slip": vec3}
KEPT = tuple(LISTED)
LINED = {
    "first": wp.int32,
    "second": wp.int32,
    "kinds": wp.vec2i,
    "n": vec3,
    "closing": f64,
    "normal": f64,
    "slip": vec3,
}
QUEUED = {"colour": wp.int32, "contact": wp.int32}
BLOCK = 1024  # of which threads of a colour in a graph are so many
PUSHED, MOST = 0.2, 1.0  # largest gaps that are contacts of bodies that are pushed, and of those on their way
AROUND = 3  # sweeps around a solve of the joints


def give_room(some: Any, arrays: dict[str, Any], most: int, device: str) -> None:
    """New arrays of a length for a structure."""
    for name, kind in arrays.items():
        setattr(some, name, wp.zeros(most, kind, device=device))


class Touching:
    """What contacts of all sorts have in common: cells, colours, and the order of a sub-step."""

    SWEEPS = 1  # of velocities a sub-step
    TAKES_GRAPHS = True  # nothing of a sub-step is decided on the host
    LISTED: ClassVar[dict[str, Any]] = LISTED  # arrays of a list of contacts

    def __init__(self, bench: LargeBench, widest: float):
        """widest: the largest distance of two bodies that touch, of those of the smallest level [m]."""
        self.bench, device, n = bench, bench.device, bench.bodies
        self.a = bench.a  # masses by which contacts push
        self.jointed = bench.jointed  # whether the world has joints
        self.count, self.widest, self.grid = 0, widest, touch.Grid()
        self.grid.edge = widest * 1.1
        cells = _cells(n)
        self.grid.mask = wp.vec3i(*(one - 1 for one in cells))
        self.grid.cell, self.grid.body = (wp.zeros(2 * n, wp.int32, device=device) for _ in range(2))
        self.grid.home, self.grid.here = wp.zeros(0, wp.int32, device=device), 0
        self.grid.begin, self.grid.end = (wp.zeros(int(np.prod(cells)), wp.int32, device=device) for _ in range(2))
        self._counts = wp.zeros(n, wp.int32, device=device)
        self._taken = wp.zeros(n, wp.int64, device=device)
        self._least, self._left = wp.zeros(n, wp.int32, device=device), wp.zeros(1, wp.int32, device=device)
        self.list, self._old = (self._new_list(4 * n) for _ in range(2))
        self.queue = touch.Queue()
        give_room(self.queue, QUEUED, 8 * n, device)
        self._places = wp.zeros((2, COLOURS), wp.int32, device=device)
        self.queue.begin, self.queue.end = self._places[0], self._places[1]
        self._graphs: dict[int, Graphed] = {}  # of a sub-step, by the list that it has
        self._seen = False  # one was taken, so that all kernels are loaded
        self._threads = np.zeros(COLOURS, int)  # that sweep each colour

    def _new_list(self, most: int) -> touch.ContactList:
        made = touch.ContactList()
        made.begin = wp.zeros(self.bench.bodies + 1, wp.int32, device=self.bench.device)
        self._widen(made, most)
        return made

    def _widen(self, some: touch.ContactList, most: int) -> None:
        """Room for so many contacts, of which nothing is kept; the structure stays that which launches know."""
        give_room(some, self.LISTED, most, self.bench.device)

    def _launch(self, kernel: wp.Kernel, threads: int, *inputs: object) -> None:
        if threads:
            self.bench.launches.launch(kernel, threads, inputs)

    # detection ------------------------------------------------------------------------------------

    def find(self, h: float) -> None:
        """Contacts at the present poses, with what they inherit; those that may come about in a step h [s] as well."""
        raise NotImplementedError

    def _make_room(self) -> None:
        """Room for as many contacts as are counted."""
        if self.count > self.list.first.size:
            self._widen(self.list, 2 * self.count)
        if 2 * self.count > self.queue.colour.size:
            give_room(self.queue, QUEUED, 4 * self.count, self.bench.device)

    def _sort_cells(self, number: wp.Kernel, *inputs: object) -> None:
        n = self.bench.bodies
        self._launch(number, n, *inputs)
        if n:
            bits = self.grid.begin.size.bit_length() - 1  # cells are a power of two
            wp.utils.radix_sort_pairs(self.grid.cell, self.grid.body, n, end_bit=bits)
        self.grid.begin.zero_()
        self.grid.end.zero_()
        self._launch(touch.find_cells, n, self.grid, n)

    def _may_close(self, fastest: float, least: float, h: float) -> float:
        """A gap that bodies may close in a step [m]; not more than cells allow."""
        return min(2.0 * self._way(fastest, h) + SLOP * least, 0.1 * self.widest)

    def _fall(self, h: float) -> float:
        """How far a body goes in a step by the speed that gravity gives it there [m]."""
        return float(np.linalg.norm(self.bench.bulk.gravity)) * h * h

    def _way(self, fastest: float, h: float) -> float:
        """As far as a body may go in a step, of those that are as fast [m]."""
        return h * self.largest(fastest) + self._fall(h)

    def fastest(self) -> float:
        """The largest speed of a body [m/s]."""
        self._launch(motion.fastest, self.bench.shares, self.bench.x, self.bench.sums[0])
        return float(self.bench.sums[0].numpy().max())

    def largest(self, value: float) -> float:
        """Of all who share in the world; here of one."""
        return value

    def _colour(self) -> None:
        self._taken.zero_()
        self._launch(touch.take_colours, self.count, self.list, self._taken)
        for _ in range(ROUNDS):
            self._least.fill_(touch.LARGEST)
            self._left.zero_()
            self._launch(touch.bid, self.count, self.list, self._least)
            self._launch(touch.choose, self.count, self.list, self._least, self._taken, self._left)
            if not int(self._left.numpy()[0]):
                break
        else:
            self._left_over(int(self._left.numpy()[0]))
        self._queue_up()

    def _queue_up(self) -> None:
        q = self.queue
        self._launch(touch.queue_up, self.count, self.list, q)
        if self.count:
            wp.utils.radix_sort_pairs(q.colour, q.contact, self.count, end_bit=COLOUR_BITS)
        self._places.zero_()
        self._launch(touch.find_colours, self.count, q, self.count)
        begin, end = self._places.numpy()
        self._share_out(end - begin)

    def _share_out(self, sizes: np.ndarray) -> None:
        """Threads for colours of these sizes; those of a graph stay as long as they suffice and not most are idle."""
        self._crowded(int(sizes[-1]))
        sizes[-1] = min(sizes[-1], 1)  # its contacts may share bodies: one after the other
        if not self._graphed:
            self._threads = sizes
        elif (sizes > self._threads).any() or self._threads.sum() > 2 * sizes.sum() + COLOURS * BLOCK:
            self._threads = -(-5 * sizes // (4 * BLOCK)) * BLOCK
            self._threads[-1] = sizes[-1]
            self._graphs.clear()

    @property
    def _graphed(self) -> bool:
        return self.TAKES_GRAPHS and self.bench.takes_graphs

    def _colours(self) -> list[tuple[int, int]]:
        """Colours in which there are contacts, and how many threads sweep each."""
        return [(colour, int(threads)) for colour, threads in enumerate(self._threads) if threads]

    def _left_over(self, many: int) -> None:
        """Contacts that no round of colouring took."""
        raise StepError(f"{many} contacts have no colour after {ROUNDS} rounds")

    def _crowded(self, many: int) -> None:
        """Contacts of the last colour, which found no other free at their bodies."""

    # steps ----------------------------------------------------------------------------------------

    def sub_step(self) -> None:
        """One sub-step of the size in the bench's h; on a GPU one graph, that is launched again in later steps."""
        if not (self._graphed and self.count):
            self._sub_step()
            return
        graph = self._graphs.setdefault(id(self.list), Graphed(self.bench.launches, self._seen))
        self._seen = True
        graph(self._sub_step)

    def _sub_step(self) -> None:
        bench = self.bench
        bench.push_bodies()
        self._give_again()
        for _ in range(self.SWEEPS):
            self._sweep()
        if self.jointed:
            self.with_joints(bench.prepare_velocities)
            for _ in range(AROUND):
                self.with_joints(bench.project_velocities)
                self._sweep()
            self.with_joints(bench.project_velocities)
            self.with_joints(bench.end_velocities)
        bench.drift()
        bench.pass_time()
        self._separate()
        if self.jointed:
            self.with_joints(bench.correct_positions)

    def with_joints(self, stage: Callable[[], None]) -> None:
        """A stage of the joints."""
        stage()

    def finish(self) -> None:
        """What comes after the sub-steps of a step."""

    def _give_again(self) -> None:
        raise NotImplementedError

    def _sweep(self) -> None:
        raise NotImplementedError

    def _separate(self) -> None:
        raise NotImplementedError

    def overlap(self) -> float:
        """The largest [m]."""
        raise NotImplementedError

    # snapshots ------------------------------------------------------------------------------------

    def snapshot(self) -> tuple:
        """What contacts leave for the next step."""
        c, n = self.list, max(self.count, 1)
        return (self.count, wp.clone(c.begin), *(wp.clone(getattr(c, name)[:n]) for name in KEPT))

    def restore(self, kept: tuple) -> None:
        """Go back to a snapshot."""
        self.count, begin, *arrays = kept
        if self.list.first.size < max(self.count, 1):  # a part of a world may have had no bodies yet
            self._widen(self.list, 2 * max(self.count, 1))
        wp.copy(self.list.begin, begin)
        for name, values in zip(KEPT, arrays, strict=True):
            wp.copy(getattr(self.list, name), values, count=values.size)


class Contacts(Touching):
    """Spheres of a bench that touch each other and planes."""

    def __init__(self, bench: LargeBench):
        radius = bench.bulk.radius[bench.bulk.radius > 0.0]
        self.least = float(radius.min())
        super().__init__(bench, 2.0 * float(radius.max()))
        self.margin, self.line = touch.Margin(), sweeps.Line()
        self.grid.speed = wp.zeros(self.grid.begin.size, wp.float32, device=bench.device)
        self.line.ball = wp.zeros(0, sweeps.BallKind, device=bench.device)
        give_room(self.line, LINED, self.list.first.size, bench.device)

    def find(self, h: float) -> None:
        """Contacts at the present poses, with what they inherit; those that may come about in a step h [s] as well."""
        x, a, n = self.bench.x, self.a, self.bench.bodies
        self._expect(self.largest(self.fastest()), h)
        self.grid.speed.zero_()
        self._sort_cells(touch.number_cells, x, self.grid)
        self.list, self._old = self._old, self.list
        self._launch(touch.list_contacts, n, x, a, self.grid, self.margin, 0, self._counts, self.list)
        if n:
            wp.utils.array_scan(self._counts, self.list.begin[1:], inclusive=True)
        self.count = int(self.list.begin[n : n + 1].numpy()[0])
        self._make_room()
        self._launch(touch.list_contacts, n, x, a, self.grid, self.margin, 1, self._counts, self.list)
        self._launch(touch.inherit, self.count, self.list, self._old)
        self._colour()
        if self.count > self.line.first.size:
            give_room(self.line, LINED, 2 * self.count, self.bench.device)
        if self.line.ball.size != self.a.mass.size:
            self.line.ball = wp.zeros(self.a.mass.size, sweeps.BallKind, device=self.bench.device)
            self._launch(sweeps.fill_kinds, self.a.mass.size, self.a, self.line)
        self._launch(sweeps.line_up, self.count, self.a, self.list, self.queue, self.line)

    def _expect(self, fastest: float, h: float) -> None:
        """Gaps that a step may close, and cells so wide that such pairs are in neighbouring ones."""
        m = self.margin
        m.span, m.rest = h, min(2.0 * self._fall(h) + SLOP * self.least, PUSHED * self.widest)
        m.pushed = min(m.rest + 2.0 * h * fastest, PUSHED * self.widest)
        m.most = min(m.pushed + h * fastest, MOST * self.widest)
        self.grid.edge = self.widest + m.most

    def _crowded(self, many: int) -> None:
        if many:
            raise StepError(
                "a body touches more than 60 others; spheres of so different sizes are for `shapes` of a Bulk"
            )

    @property
    def _swept(self) -> tuple:
        return self.bench.x, self.a, self.queue, self.line

    def _give_again(self) -> None:
        for colour, threads in self._colours():
            self._launch(sweeps.give_again, threads, *self._swept, colour, self.bench.h)

    def _sweep(self) -> None:
        for colour, threads in self._colours():
            self._launch(sweeps.sweep, threads, *self._swept, colour)

    def _separate(self) -> None:
        for colour, threads in self._colours():
            self._launch(sweeps.separate, threads, *self._swept, colour, SHARE, SLOP * self.least)

    def finish(self) -> None:
        """Impulses into the list, for the next step."""
        self._launch(sweeps.put_back, self.count, self.queue, self.line, self.list)

    def overlap(self) -> float:
        """The largest [m]."""
        worst = self.bench.sums[0]
        self._launch(sweeps.deepest, worst.size, self.bench.x, self.a, self.list, self.count, worst)
        return float(worst.numpy().max())


def _cells(bodies: int) -> tuple[int, int, int]:
    """Cells in each direction, powers of two that are 4 at least; about as many as bodies."""
    bits = max(6, int(np.ceil(np.log2(max(bodies, 2)))) + 1)
    x, y, z = (2 ** max(2, (bits + k) // 3) for k in range(3))
    return x, y, z
