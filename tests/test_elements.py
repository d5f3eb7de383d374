"""A force element that nobody planned: four files are touched, and everything else follows from the table of parts.

The program is copied, four edits are made to the copy as a contributor would make them, and a process runs it.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[1] / "src" / "impulsar"

PART = '''

@dataclass(eq=False)
class Dashpot:
    """A damper along the line between two points whose force grows with the square of the speed."""

    name: str
    first: str
    second: str
    p_PQ: np.ndarray  # [m]
    p_CQ: np.ndarray  # [m]
    coefficient: float  # [N s²/m²]

    def check(self) -> None:
        owner = f"dashpot '{check_name('dashpot', self.name)}'"
        self.p_PQ = vector(owner, "at_a", self.p_PQ, "m")
        self.p_CQ = vector(owner, "at_b", self.p_CQ, "m")
        self.coefficient = not_negative(owner, "coefficient", self.coefficient, "N s²/m²")


PARTS["dashpot"] = PartKind(
    Dashpot,
    "dashpots",
    {"first": "body", "second": "body"},
    (Parameter("coefficient", "N s²/m²", "slot_a", ("dashpot",), NOT_NEGATIVE),),
    (Point("p_PQ", "at_a", "first", "dashpot_p_first"), Point("p_CQ", "at_b", "second", "dashpot_p_second")),
    slot=12,
)
'''

CALL = '''    def dashpot(self, name: str, first, second, at_a: Vector, at_b: Vector, coefficient: float):
        """Add a damper between two world points: force = coefficient · speed² against it [N s²/m²]."""
        from .parts import Dashpot

        owner = self.claim("dashpot", name)
        P, C = self.pair(owner, first, second)
        ends = P.point(vector(owner, "at_a", at_a, "m")), C.point(vector(owner, "at_b", at_b, "m"))
        part = Dashpot(name, P.name, C.name, *ends, coefficient)
        part.check()
        self.dashpots[name] = part
        return part

    def load('''

FORCE = '''"""Dashpots: f = -c |u| u along the line between two points."""

import warp as wp

from ...author.parts import PARTS
from ..constrain.frames import Pair, pair_velocity, point_of
from ..constrain.rows import push_pair
from ..ledger import loss_entry, viscous_entry, work_entry
from ..spatial import ZERO, f64, zero3
from ..state import WorkArrays
from ..system import SystemArrays

DASHPOT = PARTS["dashpot"].slot


@wp.func
def add_dashpots(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], acts: bool, book: int, w: int):
    slots = m.slot_kind.shape[0]
    for r in range(slots):
        if m.slot_kind[r] == DASHPOT:
            k = m.slot_part[r]
            a = point_of(x, m.dashpot_first[k], m.dashpot_p_first[k, w], w)
            b = point_of(x, m.dashpot_second[k], m.dashpot_p_second[k, w], w)
            line = Pair()
            line.first = m.dashpot_first[k]
            line.second = m.dashpot_second[k]
            line.point = b
            line.turn = zero3()
            line.slide = wp.normalize(b - a)
            u = pair_velocity(x, line, w)
            force = -m.slot_a[r, w] * wp.abs(u) * u
            if acts:
                push_pair(x, line, force, w)
            x.k_book[work_entry(book, slots, r), w] = ZERO
            x.k_book[loss_entry(book, slots, r), w] = -force * u
            x.k_book[viscous_entry(book, slots, r), w] = ZERO
'''

EDITS = {  # file: what is found, and what takes its place; None: a new file
    "author/parts.py": ("\n\ndef value_of(", PART + "\n\ndef value_of("),
    "author/model.py": ("    def load(", CALL),
    "engine/forces/dashpots.py": (None, FORCE),
    "engine/forces/total.py": (
        "        add_loads(m, x, t, span, acts, book, w)\n",
        "        add_loads(m, x, t, span, acts, book, w)\n    add_dashpots(m, x, acts, book, w)\n",
    ),
}

PROGRAM = """
import json, sys, tempfile
from pathlib import Path
import numpy as np
import impulsar as im
from impulsar import edits
from impulsar.studio import describe

M, C, V = 2.0, 3.0, 1.5


def cart(worlds=1, method="direct", dt=0.01):
    model = im.Model("cart", gravity=(0, 0, 0))
    model.body("cart", mass=M, inertia=(1, 1, 1), position=(1, 0, 0), velocity=(V, 0, 0))
    model.joint("rail", "prismatic", model.ground, "cart", at=(0, 0, 0), axis=(1, 0, 0))
    model.dashpot("pot", model.ground, "cart", at_a=(-1, 0, 0), at_b=(1, 0, 0), coefficient=C)
    return im.World(model, method=method, worlds=worlds, dt=dt)


def exact(t, v=V, c=C):
    return v / (1 + c * v * t / M)  # m dv/dt = -c v²


world = cart()
world.step(100)
v = world.body("cart").velocity[0]
books = world.energy()
assert abs(v - exact(1.0)) < 1e-8, v - exact(1.0)
assert abs(books.losses["pot"] - M / 2 * (V**2 - v**2)) < 1e-8, books
assert abs(books.imbalance) < 1e-8
errors = []
for dt in (0.01, 0.005):
    other = cart(method="simgc", dt=dt)
    other.step(round(1 / dt))
    errors.append(other.body("cart").velocity[0] - exact(1.0))
    assert abs(other.energy().imbalance) < 5 * dt
assert 1.9 < errors[0] / errors[1] < 2.1, errors  # of order 1
moment = world.snapshot()
answer = world.set("pot.coefficient", 0.0)
assert world.model.dashpots["pot"].coefficient == 0.0
world.step(10)
assert abs(world.body("cart").velocity[0] - v) < 1e-12
world.apply(answer.inverse)
gone = world.remove("dashpot", "pot")
assert not world.model.dashpots and abs(world.energy().losses["removed parts"] - books.losses["pot"]) < 1e-12
world.apply(gone.inverse)
world.step(50)
assert abs(world.body("cart").velocity[0] - exact(0.5, v)) < 1e-8
world.restore(moment)
assert world.model.dashpots["pot"].coefficient == C and world.body("cart").velocity[0] == v
batch = cart(worlds=2)
batch.set("pot.coefficient", np.array([3.0, 6.0]))
batch.step(100)
assert abs(batch.body("cart").velocity[:, 0] - [exact(1.0), exact(1.0, c=6.0)]).max() < 1e-8
told = describe.part(world, "elements", "pot")
assert (told.kind, told.refers) == ("dashpot", {"first": "ground", "second": "cart"}), told
own = [(p.name, p.value, p.unit, p.path) for p in told.parameters]
assert own == [("coefficient", C, "N s²/m²", "pot.coefficient")], own
try:
    world.set("pot.coefficient", -1.0)
    raise AssertionError("a negative coefficient was taken")
except im.EditError as error:
    assert ">= 0" in str(error)
with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "cart.json"
    im.save_model(world.model, file)
    assert im.load_model(file).dashpots["pot"].coefficient == C
    journal = Path(folder) / "cart.journal"
    history = im.History(cart(), journal)
    history.step(10)
    history.apply(edits.SetParameter("pot.coefficient", 5.0))
    history.step(10)
    end = history.world.hash()
    history.close()
    again = im.History.open(journal)
    assert again.world.hash() == end and again.world.model.dashpots["pot"].coefficient == 5.0
    again.close()
print("all holds")
"""


@pytest.mark.study
def test_a_force_element_takes_four_files(tmp_path: Path) -> None:
    """Quadratic damping v = v0 / (1 + c v0 t / m): motion, books, order, edits, undo, batches, files, journal, page."""
    assert len(EDITS) <= 4
    copy = tmp_path / "src" / "impulsar"
    shutil.copytree(SOURCES, copy, ignore=shutil.ignore_patterns("__pycache__", "page"))
    for name, (old, new) in EDITS.items():
        file = copy / name
        if old is None:
            file.write_text(new, encoding="utf-8")
            continue
        text = file.read_text(encoding="utf-8")
        assert text.count(old) == 1, name
        text = text.replace(old, new)
        if name.endswith("total.py"):
            text = text.replace("from .loads import", "from .dashpots import add_dashpots\nfrom .loads import")
        file.write_text(text, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "src")}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "all holds" in done.stdout
