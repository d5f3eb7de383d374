"""A mechanism's step as one C file and its header: fixed memory, no allocation, nothing but the C library's math.

The step is the engine's own, traced along a run of the mechanism (`engine/compile/paths.py`), so it knows the ways that
this run goes. A step that would go another is not taken, and says so by its return code.
"""

import re
import textwrap
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..author.errors import ModelError
from ..engine.compile.emit_c99 import Text, functions, number
from ..engine.compile.paths import Followed, Follower, Tree, follow, kept_rows, parameters_in
from ..engine.compile.step import PARAMETER, STATE, TracedStep, trace_poses
from ..engine.system.channels import CONSTANT, HARMONIC, RAMP, SMOOTH
from ..world.world import World

WIDTH = 112  # of lines
MOST_WAYS = 256  # through the step
WANTED = ("q", "v", "loop_q", "time")  # blocks of the state that are kept, and all that they depend on
NUMBERS = {  # what a, b, c, d of a channel are, by its kind
    CONSTANT: ("",),
    RAMP: ("start", "end", "t0", "t1"),
    SMOOTH: ("start", "end", "t0", "t1"),
    HARMONIC: ("mean", "amplitude", "omega", "phase"),
}
COMPONENTS = {"load": 3, "fluid": 3, "hand": 3, "turn": 3}  # channels that belong together, by the owner's first word
WORDS = """auto break case char const continue default do double else enum extern float for goto if inline int long
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
alignas alignof and and_eq asm bitand bitor bool catch char16_t char32_t char8_t class co_await co_return co_yield
compl concept const_cast consteval constexpr constinit decltype delete dynamic_cast explicit export false friend
mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public reinterpret_cast requires
static_assert static_cast template this thread_local throw true try typeid typename typeof using virtual wchar_t xor
xor_eq errno far i386 linux near unix"""  # of C and of C++, which may include the header; macros of some compilers
LIBRARY = """assert complex ctype errno features fenv float inttypes iso646 limits locale math memory setjmp signal
stdarg stdatomic stdbool stddef stdint stdio stdlib string tgmath threads time wchar wctype"""
RESERVED = frozenset(WORDS.split())
HEADERS = frozenset(LIBRARY.split())  # a file of such a name hides the library's where its folder is on the path


@dataclass
class Program:
    """A C program of a mechanism."""

    name: str  # prefix of all its names, and of its files
    header: str
    source: str
    followed: Followed
    rows: list[int]  # rows of the engine's state that it keeps, in its order
    inputs: list[str]  # their names
    coordinates: list[str]
    bodies: list[str]
    operations: Counter  # of the longest way, by what they are
    nodes: int  # operations written out in the file
    size: dict[str, int] = field(default_factory=dict)  # of its structs [bytes]
    notes: list[str] = field(default_factory=list)  # on what is left out

    @property
    def most(self) -> int:
        """Operations of the longest way, comparisons among them."""
        return self.operations.total()


def identifier(text: str, taken: set[str], reserved: frozenset[str] = RESERVED) -> str:
    """A name in C that is not taken."""
    plain = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_").lower() or "part"
    plain = f"n{plain}" if plain[0].isdigit() else f"{plain}_" if plain in reserved else plain
    name, k = plain, 2
    while name in taken:
        name, k = f"{plain}_{k}", k + 1
    taken.add(name)
    return name


def prefix(text: str) -> str:
    """What all names of a program begin with, and its files."""
    return identifier(text, set(), RESERVED | HEADERS)


def remark(text: str) -> str:
    """A name in a comment: nothing of it begins or ends one, goes on in the next line, or turns its direction."""
    seen = "".join(x for x in text.replace("\\", "/") if unicodedata.category(x) != "Cf")
    return " ".join(seen.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?").split())


def comment(paragraphs: Sequence[str]) -> str:
    """Lines of a comment."""
    return "\n   ".join(textwrap.fill(remark(one), WIDTH, subsequent_indent="   ") for one in paragraphs)


def to_c99(world: World, steps: int, most: int = MOST_WAYS, name: str = "") -> Program:
    """The step of a world's mechanism from its present state on, along the ways that so many steps go.

    name: prefix of all names in C; by default made of the model's.
    """
    _refuse(world)
    runner, system = world.runner, world.runner.system
    state, before = runner.state, runner.state.numpy().copy()
    freedoms, coordinates = _freedoms(world)
    try:
        followed = follow(runner.method, system, state, runner.work, steps, most)
        state.numpy()[...] = before
        poses = _poses(world, followed, freedoms)
    finally:
        state.numpy()[...] = before
    wanted = [row for block in WANTED for row in range(state.rows[block].start, state.rows[block].stop)]
    read = [row[1] for pose in poses for row in pose.graph.inputs if row[0] == STATE]
    rows = kept_rows(followed.ways, [*wanted, *read])
    step, reading = Tree(followed.ways, rows), Tree(poses)
    taken: set[str] = set()
    made = prefix(name or world.model.name)
    names = {parameter: identifier(_channel_name(world, parameter), taken) for parameter in parameters_in([step])}
    writer = _Writer(world, made, rows, before[rows, 0], names, coordinates, list(system.body_index), step, reading)
    longest = max((step.work(way) for way in step.ways), key=lambda one: one.total())
    program = Program(made, "", "", followed, rows, list(names.values()), coordinates, writer.bodies, longest,
                      sum(node[0] != "input" for node in step.nodes))  # fmt: skip
    program.size = writer.sizes()
    program.notes = [f"left out: sensors {', '.join(found)}" for found in [list(world.model.sensors)] if found]
    program.header, program.source = writer.header(program), writer.source(program)
    return program


def _refuse(world: World) -> None:
    """What a step alone does not have."""
    runner = world.runner
    if runner.worlds != 1:
        raise ModelError(f"export: a world of a batch of {runner.worlds} has no step of its own; take worlds=1")
    if runner.substeps != 1:
        raise ModelError(
            f"export: a step of {runner.dt:g} s is taken in {runner.substeps}; take dt={runner.dt / runner.substeps:g}"
        )
    for what, found in (
        ("a script", runner.script),
        ("inputs that are Python callables", runner.system.channels.callables),
        ("controllers", runner.beats.controllers),
        ("clamps", runner.clamps),
        ("sensors that divide its steps", runner.beats and runner.beats.splits),
    ):
        if found:
            raise ModelError(f"export: model '{world.model.name}' has {what}, which C has not; leave them out")


def _freedoms(world: World) -> tuple[list[tuple], list[str]]:
    """What `coordinate` takes for each freedom, and their names."""
    system = world.runner.system
    keys = [(joint, code) for joint in system.model.joints.values() for code in joint.kind.freedoms]
    found = [(system.joint_index[j.name], int(code), int(system.coordinate[j.name, code])) for j, code in keys]
    return found, list(world.runner.readout.coordinates)


def _poses(world: World, followed: Followed, freedoms: list[tuple]) -> list[TracedStep]:
    """Ways of reading poses and coordinates along the same run."""
    runner = world.runner
    bench = runner.system, runner.state, runner.work
    found = [trace_poses(*bench, freedoms)]
    if not found[0].guards:
        return found
    follower, reader = Follower(*bench[:2]), Follower(*bench[:2])
    for way in followed.ways:
        follower.add(way)
    reader.add(TracedStep(found[0].graph, {}, found[0].tally, []))
    for step in range(followed.steps + 1):
        if not reader.go(1):
            found.append(trace_poses(*bench, freedoms))
            reader.add(TracedStep(found[-1].graph, {}, found[-1].tally, []))
        if step < followed.steps:
            follower.go(1)
    return found


def _channel_name(world: World, parameter: tuple) -> str:
    """What an input is called: its owner, the axis of a vector, and the number of a profile."""
    _, array, channel, _ = parameter
    system = world.runner.system
    if array not in ("channel_a", "channel_b", "channel_c", "channel_d"):
        return f"{array} {channel}"
    owner = system.channel_owner(channel)
    words = [re.sub(r"^motor of joint ", "motor ", owner)]
    if COMPONENTS.get(owner.split()[0]):
        first = next(c for c in range(channel + 1) if system.channel_owner(c) == owner)
        words.append("xyz"[channel - first])
    kind = int(system.arrays.channel_kind.numpy()[channel])
    words.append(NUMBERS[kind]["abcd".index(array[-1])])
    return " ".join(words)


class _Writer:
    """The texts of header and source."""

    def __init__(
        self,
        world: World,
        name: str,
        rows: list[int],
        start: np.ndarray,
        inputs: dict[tuple, str],
        coordinates: list[str],
        bodies: list[str],
        step: Tree,
        reading: Tree,
    ):
        self.world, self.name, self.rows, self.start, self.inputs = world, name, rows, start, inputs
        self.step, self.reading = step, reading
        taken: set[str] = set()
        self.coordinates = {identifier(one, taken): one for one in coordinates}
        self.bodies = bodies
        self.body_names = {identifier(f"body {one}", taken): one for one in bodies}
        self.at = {row: k for k, row in enumerate(rows)}

    def sizes(self) -> dict[str, int]:
        outputs = len(self.coordinates) + 7 * len(self.bodies)
        return {"state": 8 * len(self.rows), "inputs": 8 * max(1, len(self.inputs)), "outputs": 8 * max(1, outputs)}

    # header ---------------------------------------------------------------------------------------

    def header(self, program: Program) -> str:
        n, big = self.name, self.name.upper()
        units = self.world.runner.readout.coordinate_units
        joints = [
            f"  double {c}; /* {remark(told)} [{u}] */"
            for (c, told), u in zip(self.coordinates.items(), units, strict=True)
        ]
        poses = [
            f"  struct {{ double position[3], orientation[4]; }} {c}; /* {remark(told)} */"
            for c, told in self.body_names.items()
        ]
        inputs = [f"  double {c};" for c in self.inputs.values()]
        none = ["  double unused;"]
        return "\n".join(
            [
                f"/* {comment(self._about(program))} */",
                f"#ifndef {big}_H\n#define {big}_H\n",
                '#ifdef __cplusplus\nextern "C" {\n#endif\n',
                f"#define {big}_STATES {len(self.rows)}",
                f"#define {big}_DT {number(self.world.runner.h)} /* [s] */",
                f"#define {big}_OPERATIONS {program.most} /* of a step, at most */\n",
                "/* what a call returns; unless it is 0, nothing was written */",
                f"enum {{ {big}_OK = 0, {big}_OTHER_WAY = 1, {big}_NOT_FINITE = 2 }};\n",
                f"typedef struct {{ double x[{big}_STATES]; }} {n}_state;\n",
                "/* motors, loads and currents: SI units; profiles by their numbers */",
                *["typedef struct {", *(inputs or none), f"}} {n}_inputs;\n"],
                "/* joint coordinates; of bodies the centre of mass [m] and the orientation, a quaternion x y z w */",
                *["typedef struct {", *(joints + poses or none), f"}} {n}_outputs;\n"],
                f"void {n}_start({n}_state *state, {n}_inputs *inputs); /* where the export began, and its inputs */",
                f"int {n}_step({n}_state *state, const {n}_inputs *inputs);",
                f"int {n}_read(const {n}_state *state, {n}_outputs *outputs);",
                f"void {n}_get(const {n}_state *state, double x[{big}_STATES]);",
                f"int {n}_set({n}_state *state, const double x[{big}_STATES]);",
                f"const char *{n}_state_name(int k); /* what number k of a state is */\n",
                '#ifdef __cplusplus\n}\n#endif\n#endif',
            ]
        ) + "\n"  # fmt: skip

    def _about(self, program: Program) -> list[str]:
        runner, found = self.world.runner, program.followed
        of_each = ", ".join(f"{count} {op}" for op, count in sorted(program.operations.items()))
        ways = f"{len(found.ways)} way{'s' if len(found.ways) != 1 else ''} through it"
        seconds = found.steps * runner.h
        until = f"all {found.steps} steps of {seconds:g} s" if not found.ended else (
            f"{found.steps} of {found.asked} steps, {seconds:g} s; then {found.ended}"
        )  # fmt: skip
        return [
            f"Model '{self.world.model.name}', written by Impulsar: a step of {runner.h:g} s by {runner.method.name}.",
            f"It has {ways}, found along a run from its start: {until}. "
            f"A step that would go another way is not taken: {self.name}_step returns {self.name.upper()}_OTHER_WAY.",
            f"A step is at most {program.most} operations: {of_each}. State {program.size['state']} bytes, "
            f"inputs {program.size['inputs']}, outputs {program.size['outputs']}; locals of a step at most "
            f"{8 * (program.most + len(self.rows))} bytes of stack. Nothing is allocated and nothing is static.",
            "Build with -std=c99 -ffp-contract=off and -lm: then its bits are those of the engine's compiled steps.",
        ]

    # source ---------------------------------------------------------------------------------------

    def source(self, program: Program) -> str:
        n, told = self.name, (f"{self.name.upper()}_OTHER_WAY", f"{self.name.upper()}_NOT_FINITE")
        text = "\n".join(
            [
                f"int {n}_step({n}_state *state, const {n}_inputs *inputs) {{",
                "  double *const x = state->x;",
                *self._loads(self.step),
                *([] if self.step.inputs(PARAMETER) else ["  (void)inputs;"]),
                *Text(self.step, self._names(self.step), self._store, *told).lines(),
                "}\n",
                f"int {n}_read(const {n}_state *state, {n}_outputs *outputs) {{",
                "  const double *const x = state->x;",
                *self._loads(self.reading),
                *Text(self.reading, self._names(self.reading), self._show, *told).lines(),
                "}\n",
                *self._rest(),
            ]
        )
        included = f'#include "{n}.h"\n\n#include <math.h>\n#include <stdint.h>\n#include <string.h>\n'
        return f"/* {comment(self._about(program))} */\n{included}\n{functions(text)}\n{text}\n"

    def _loads(self, tree: Tree) -> list[str]:
        rows = sorted(name[1] for name in tree.inputs(STATE))
        return [f"  const double x{self.at[row]} = x[{self.at[row]}];" for row in rows] or ["  (void)x;"]

    def _names(self, tree: Tree) -> dict[int, str]:
        return {
            at: f"x{self.at[name[1]]}" if name[0] == STATE else f"inputs->{self.inputs[name]}"
            for at, name in tree.names.items()
        }

    def _store(self, row: int, value: str) -> str:
        return f"x[{self.at[row]}] = {value};"

    def _show(self, output: tuple, value: str) -> str:
        kind, part, *k = output
        if kind == "coordinate":
            return f"outputs->{list(self.coordinates)[part]} = {value};"
        return f"outputs->{list(self.body_names)[part]}.{kind}[{k[0]}] = {value};"

    def _rest(self) -> list[str]:
        n, big = self.name, self.name.upper()
        defaults = [f"  inputs->{name} = {number(self._default(key))};" for key, name in self.inputs.items()]
        return [
            f"void {n}_start({n}_state *state, {n}_inputs *inputs) {{",
            f"  static const double start[{big}_STATES] = {{",
            *_filled(", ".join(number(float(one) + 0.0) for one in self.start)),
            "  };",
            "  memcpy(state->x, start, sizeof start);",
            *(defaults or ["  inputs->unused = 0.0;"]),
            "}\n",
            f"void {n}_get(const {n}_state *state, double x[{big}_STATES]) {{",
            "  memcpy(x, state->x, sizeof state->x);",
            "}\n",
            f"int {n}_set({n}_state *state, const double x[{big}_STATES]) {{",
            f"  for (int k = 0; k < {big}_STATES; ++k)",
            f"    if (!(x[k] - x[k] == 0.0)) return {big}_NOT_FINITE;",
            "  memcpy(state->x, x, sizeof state->x);",
            "  return 0;",
            "}\n",
            f"const char *{n}_state_name(int k) {{",
            f"  static const char *const name[{big}_STATES] = {{",
            *_filled(", ".join(f'"{self._row_name(row)}"' for row in self.rows)),
            "  };",
            f'  return k >= 0 && k < {big}_STATES ? name[k] : "";',
            "}",
        ]

    def _default(self, parameter: tuple) -> float:
        _, array, part, k = parameter
        return float(np.ravel(getattr(self.world.runner.system.arrays, array).numpy()[part][0])[k])

    def _row_name(self, row: int) -> str:
        block, rows = next(
            (name, rows) for name, rows in self.world.runner.state.rows.items() if rows.start <= row < rows.stop
        )
        return f"{block}[{row - rows.start}]"


def _filled(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)


def files(program: Program) -> dict[str, str]:
    """Texts by the names of their files."""
    return {f"{program.name}.h": program.header, f"{program.name}.c": program.source}


def sizes_of(program: Program) -> dict[str, Any]:
    """A line of the table of the docs."""
    return {
        "ways": len(program.followed.ways),
        "steps": program.followed.steps,
        "states": len(program.rows),
        "operations": program.most,
        "written": program.nodes,
        "kB": round((len(program.source) + len(program.header)) / 1000),
    }
