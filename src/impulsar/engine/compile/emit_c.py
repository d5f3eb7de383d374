"""A traced step as C: straight lines, one world or several in a register.

The text is C99 but for vector types, which gcc and clang have. Two functions:

    step(s, p, going)   one step of the worlds in a register, of those that are going: s[row] is read and written, p[k]
                        are parameters that worlds have of their own. Returns the worlds whose guards held; the others
                        are left as they were. s[-1] and s[-2] are set to the iterations and sub-steps of a
                        step that keeps loops, where the state decides on them.
    run(...)            many steps of many worlds (`driver`): each step by the first of several variants whose guards
                        hold; a world for which none does stops there

Sines, cosines and angles are computed here (`sines`): the same bits whatever the number of worlds in a register, as
exact as the C library's to the last bit or so, and without a call, for which all registers would have to be put aside.
Where a register has one world, those that do not wait for each other are computed side by side (`beside`).
"""

import math
from collections.abc import Collection, Mapping, Sequence

from .beside import ANGLES, ROOM, TURNING, Found, find_beside, renamed
from .cuts import cut, sides
from .graph import CARRIED, INPUT, LEFT, PICK, Graph, Guard, Loop
from .sines import (
    ANGLE,
    HALF_PI,
    HALF_TURN,
    LARGEST,
    LARGEST_SIDE,
    MAGIC,
    STEEP,
    TO_TURNS,
    TURNS,
    coefficients,
)
from .step import PARAMETER, STATE, TracedStep

INFIX = ("+", "-", "*", "/")
WIDTHS = (1, 4, 8)
LONG = 10_000  # operations of a step from which on it is cut into pieces, and of a piece: a third to half less time
PIECE = 1_000  # to compile, and some per cent more to run
START, END = '#ifdef __cplusplus\nextern "C" {\n#endif', "#ifdef __cplusplus\n}\n#endif"
BUILTIN = {"sqrt": "sqrt", "abs": "abs", "floor": "floor", "trunc": "trunc"}  # clang has them for vectors
CHANGED, WILD = -1, 1 << 40  # what `run` returns, beside a number of worlds
COUNTS = 3  # rows of `used` before those of the variants
MOST = 1e150  # of a number of the state: the square of a larger one is not finite
BY_LANE = ("tan", "asin", "acos", "atan", "exp", "log", "tanh")


def prelude(width: int) -> str:
    """Types and functions for so many worlds in a register."""
    lines = [START, "#define WHOLE", "#define APART static __attribute__((noinline))"]
    lines += [f"double {name}(double);" for name in ("sin", "cos", *BY_LANE)]
    lines += ["double atan2(double, double);", "double pow(double, double);"]
    lines += _types(width)
    lines += _built_in(width)
    each = f"for (int i = 0; i < {width}; ++i)"
    lines += [
        f"static inline real F_{op}(real a) {{ {each} LANE(a, i) = {op}(LANE(a, i)); return a; }}" for op in BY_LANE
    ]
    lines += [
        f"static inline real F_{op}(real a, real b) {{ {each} LANE(a, i) = {op}(LANE(a, i), LANE(b, i)); return a; }}"
        for op in ("pow",)
    ]
    lines += ["static inline real F_max(real a, real b) { return CHOOSE(a > b, a, b); }"]
    lines += ["static inline real F_min(real a, real b) { return CHOOSE(a < b, a, b); }"]
    lines += ["static inline real F_above(real a, real b) { return CHOOSE(TEST(a > b), K(1.0), K(0.0)); }"]
    lines += _sine(each)
    lines += _angle(each)
    lines += [
        "static inline real F_round(real a) {",
        " real t = F_trunc(a), one = CHOOSE(TEST(a < 0.0), K(-1.0), K(1.0));",
        " return t + CHOOSE(TEST(F_abs(a - t) >= 0.5), one, K(0.0));",
        "}",
    ]
    lines += [END]
    return "\n".join(lines)


def _types(width: int) -> list[str]:
    """Numbers and masks of so many worlds, and one number in all of them."""
    if width == 1:
        lines = ["typedef double real;", "typedef long long mask;"]
        lines += ["#define TEST(c) (-(mask)(c))", "#define CHOOSE(m, a, b) ((m) ? (a) : (b))"]
        lines += ["#define ANY(m) ((m) != 0)", "#define LANE(a, i) (a)"]
    else:
        size = 8 * width
        lines = [f"typedef double real __attribute__((vector_size({size})));"]
        lines += [f"typedef double loose __attribute__((vector_size({size}), aligned(8)));"]
        lines += [f"typedef long long mask __attribute__((vector_size({size})));"]
        lines += [f"typedef long long loose_mask __attribute__((vector_size({size}), aligned(8)));"]
        lines += ["#define TEST(c) (c)", "#define CHOOSE(m, a, b) ((m) ? (a) : (b))", "#define LANE(a, i) (a)[i]"]
        lines += ["static inline int ANY(mask m) { long long a = 0;"]
        lines += [f" for (int i = 0; i < {width}; ++i) a |= m[i]; return a != 0; }}"]
    each = f"for (int i = 0; i < {width}; ++i)"
    return [*lines, f"static inline real K(double c) {{ real a; {each} LANE(a, i) = c; return a; }}"]


def _built_in(width: int) -> list[str]:
    """Functions that the compiler has."""
    lines = []
    for op, name in BUILTIN.items():
        body = f"__builtin_{'f' if op == 'abs' else ''}{name}(a)" if width == 1 else f"__builtin_elementwise_{name}(a)"
        lines.append(f"static inline real F_{op}(real a) {{ return {body}; }}")
    return lines


def side_by_side(room: int) -> list[str]:
    """Functions for so many numbers of one world in a register."""
    each = f"for (int i = 0; i < {room}; ++i)"
    types = [line for line in _types(room) if "loose" not in line]
    return renamed([START, *types, *_built_in(room), *_sine(each), *_angle(each), END], room)


def quarters(terms: Sequence[float]) -> str:
    """Σ terms[k] z^k with u = z²: by Estrin's rule, most of whose parts do not wait for each other."""
    pairs = [f"({pair[0]!r} + z * {_in_brackets(pair[1])})" if len(pair) > 1 else _in_brackets(pair[0])
             for pair in (terms[k : k + 2] for k in range(0, len(terms), 2))]  # fmt: skip
    fours = [" + u * ".join(pairs[k : k + 2]) for k in range(0, len(pairs), 2)]
    text = f"({fours[-1]})"
    for four in reversed(fours[:-1]):
        text = f"(({four}) + (u * u) * {text})"
    return text


def _in_brackets(value: float) -> str:
    return repr(value) if value >= 0.0 else f"({value!r})"


def _angle(each: str) -> list[str]:
    """F_atan2(y, x): `sines.arctangent`."""
    (quarter, less), (right, lower), (half, low) = (*TURNS, HALF_TURN)
    return [
        "static inline real F_atan2(real y, real x) {",
        " real a = F_abs(x), b = F_abs(y);  mask steep = TEST(b > a);",
        " real most = CHOOSE(steep, b, a), least = CHOOSE(steep, a, b);",
        f" mask far = TEST(least > {STEEP!r} * most);",
        " real number = CHOOSE(far, least - most, least), of = CHOOSE(far, least + most, most);",
        " real r = number / CHOOSE(TEST(of == 0.0), K(1.0), of), z = r * r, u = z * z;",
        f" real t = r + r * z * {quarters(ANGLE)};",
        f" t = CHOOSE(far, {quarter!r} + (t + {less!r}), t);",
        f" t = CHOOSE(steep, {right!r} - (t - {lower!r}), t);",
        f" t = CHOOSE(TEST(x < 0.0), {half!r} - (t - {low!r}), t);",
        " t = CHOOSE(TEST(y < 0.0), -t, t);",
        f" if (ANY(~TEST(most <= {LARGEST_SIDE!r})))",
        f"  {each} if (!(LANE(most, i) <= {LARGEST_SIDE!r})) LANE(t, i) = atan2(LANE(y, i), LANE(x, i));",
        " return t;",
        "}",
    ]


def _sine(each: str) -> list[str]:
    """SINCOS(x, s, c): x less a multiple of π/2, then series; larger angles by the C library."""
    return [
        "static inline void SINCOS(real x, real *s, real *c) {",
        f" const double magic = {MAGIC!r};  real t = x * {TO_TURNS!r} + magic, k = t - magic;",
        " mask n; __builtin_memcpy(&n, &t, sizeof n);",
        f" real r = ((x - k * {HALF_PI[0]!r}) - k * {HALF_PI[1]!r}) - k * {HALF_PI[2]!r}, z = r * r, u = z * z;",
        f" real a = r + r * z * {quarters(coefficients(3))}, half = 0.5 * z, w = 1.0 - half;",
        f" real b = w + (((1.0 - w) - half) + z * z * {quarters(coefficients(4))});",
        " mask odd = TEST((n & 1) != 0);  real p = CHOOSE(odd, b, a), q = CHOOSE(odd, a, b);",
        " *s = CHOOSE(TEST((n & 2) != 0), -p, p);  *c = CHOOSE(TEST(((n + 1) & 2) != 0), -q, q);",
        f" real size = F_abs(x);  if (ANY(~TEST(size <= {LARGEST!r})))",
        f"  {each} if (!(LANE(size, i) <= {LARGEST!r}))",
        "   { LANE(*s, i) = sin(LANE(x, i)); LANE(*c, i) = cos(LANE(x, i)); }",
        "}",
    ]


def constant(value: float) -> str:
    """A number in C."""
    if math.isnan(value):
        return '__builtin_nan("")'
    if math.isinf(value):
        return "__builtin_inf()" if value > 0 else "(-__builtin_inf())"
    return repr(value) if value >= 0.0 else f"({value!r})"


class Body:
    """Lines that compute nodes of a graph, in order, into t0, t1, ...; inputs have names of their own.

    wide: several worlds in a register, those in the mask `going`; else one, and a guard that breaks returns 0.
    """

    def __init__(self, graph: Graph, live: Sequence[int], names: dict[int, str], wide: bool = False):
        self.graph, self.live, self.names, self.wide = graph, live, dict(names), wide
        self.blocks: Mapping[Loop | None, Sequence[int]] = graph.blocks(live) if graph.loops else {None: live}
        self.turns: dict[int, dict[str, int]] = {}  # sines and cosines by the angle that they share
        for at in self.live:
            op, *args = self.graph.nodes[at]
            if op in ("sin", "cos"):
                self.turns.setdefault(args[0], {})[op] = at
            elif op == LEFT:
                self.names[at] = f"t{self.graph.variable(at)}"

    def text(self, a: "int | float") -> str:
        """An argument; a constant as a number."""
        if isinstance(a, float):
            return constant(a)
        return self.names.get(a, f"t{a}")

    def value(self, a: "int | float") -> str:
        """An argument as a value of its own: a constant in all worlds of the register."""
        return self.text(a) if isinstance(a, int) else f"K({constant(a)})"

    def lines(self, guards: Sequence[Guard] = ()) -> list[str]:
        """All nodes in order; guards, where some are given, as soon as what they compare is there."""
        place = {at: k for k, at in enumerate(self.live)}
        due: dict[int, list[Guard]] = {}
        for guard in guards:
            due.setdefault(max((place.get(a, -1) for a in sides(guard)), default=-1), []).append(guard)
        by_node = {self.live[k]: those for k, those in due.items() if k >= 0}
        return [*(self._broken(guard) for guard in due.get(-1, ())), *self._block(self.blocks[None], set(), by_node)]

    def _block(self, order: Sequence[int], done: "set[int | Loop]", due: dict[int, list[Guard]]) -> list[str]:
        """Nodes in order; done: angles and loops that are there already."""
        out = []
        early: set[int] = set()  # nodes that are there before it is their turn
        for k, at in enumerate(order):
            op, *args = self.graph.nodes[at]
            if at not in early and not self.wide and (op == ANGLES or (op in TURNING and args[0] not in done)):
                found = find_beside(self.graph, order[k:], early, done)
                if len(found.of) > 1:
                    for sooner in found.before:
                        out += self._one(sooner, self.graph.nodes[sooner][0], list(self.graph.nodes[sooner][1:]), done)
                    out += self._beside(found, at)
                    early |= {*found.before, *(node for nodes in found.nodes for node in nodes)}
                    done |= {angle for angle, *more in found.of if not more}
            if at not in early:
                out += self._one(at, op, args, done)
            out += [self._broken(guard) for guard in due.get(at, ())]
        return out

    def _beside(self, found: Found, at: int) -> list[str]:
        """Sines and cosines, or angles, side by side."""
        room, real = found.room, f"real_{found.room}"
        columns = zip(*found.of, strict=True)
        given = [f"{{{', '.join(self.text(a) for a in column)}}}" for column in columns]
        if len(given) == 2:
            lines = [f"const {real} y{at} = {given[0]}, x{at} = {given[1]}, a{at} = F_atan2_{room}(y{at}, x{at});"]
            return lines + [f"const real t{nodes[0]} = a{at}[{k}];" for k, nodes in enumerate(found.nodes)]
        lines = [f"const {real} x{at} = {given[0]}; {real} s{at}_, c{at}_; SINCOS_{room}(x{at}, &s{at}_, &c{at}_);"]
        for k, (angle,) in enumerate(found.of):
            for op, node in self.turns[angle].items():
                lines.append(f"const real t{node} = {op[0]}{at}_[{k}];")
        return lines

    def _broken(self, guard: Guard) -> str:
        return f"going &= {self.test(guard)};" if self.wide else f"if (!{self.test(guard)}) return 0;"

    def _one(self, at: int, op: str, args: list, done: "set[int | Loop]") -> list[str]:
        if op in (INPUT, CARRIED):
            return []
        if op in ("sin", "cos", LEFT):
            if args[0] in done:
                return []
            done.add(args[0])
            return self._loop(args[0]) if op == LEFT else [self._turn(args[0])]
        return [f"const real t{at} = {self._operation(op, args)};"]

    def _loop(self, loop: Loop) -> list[str]:
        """The rounds of a loop: in a register, as long as some world needs one, and the others keep what they have."""
        body = self.blocks.get(loop, [])
        inside = set(body)
        carried = [k for k, symbol in enumerate(loop.symbols) if symbol in inside]
        out = [f"real t{loop.symbols[k]} = {self.value(loop.entries[k])};" for k in carried]
        first = self._before_tests(loop, inside)
        on, tests = f"on{loop.number}", " & ".join(f"({self.test(test)})" for test in loop.tests)
        out += [f"mask {on} = going;"] if self.wide else []
        done: set[int | Loop] = set()
        out += ["for (;;) {", *self._block([at for at in body if at in first], done, {})]
        out += [f"{on} &= going & {tests};", f"if (!ANY({on})) break;"] if self.wide else [f"if (!({tests})) break;"]
        out += self._block([at for at in body if at not in first], done, {})
        for guard in loop.guards:
            out.append(f"going &= {self.test(guard)} | ~{on};" if self.wide else self._broken(guard))
        # all of them at once: one may be what another was
        out += [f"const real n{loop.symbols[k]} = {self.value(loop.exits[k])};" for k in carried]
        for k in carried:
            now, new = f"t{loop.symbols[k]}", f"n{loop.symbols[k]}"
            out.append(f"{now} = CHOOSE({on}, {new}, {now});" if self.wide else f"{now} = {new};")
        return [*out, "}"]

    def _before_tests(self, loop: Loop, inside: set[int]) -> set[int]:
        """Nodes of a body that its tests need; of a loop among them all that its rounds need, not one variable."""
        found: set[int] = set()
        wanted = [side for test in loop.tests for side in (test.left, test.right)]
        while wanted:
            new = (set(self.graph.live(wanted)) & inside) - found
            found |= new
            inner = [self.graph.nodes[at][1] for at in new if self.graph.nodes[at][0] == LEFT]
            wanted = [a for one in dict.fromkeys(inner) for a in self._ends(one)]
        return found

    def _ends(self, loop: Loop) -> "list[int | float]":
        """What the variables of a loop are before and after a round, of those that are computed."""
        body = set(self.blocks.get(loop, []))
        return [a for k, symbol in enumerate(loop.symbols) if symbol in body for a in (loop.entries[k], loop.exits[k])]

    def _turn(self, angle: int) -> str:
        found = self.turns[angle]
        s, c = (f"t{found[op]}" if op in found else f"{op}{angle}" for op in ("sin", "cos"))
        return f"real {s}, {c}; SINCOS({self.text(angle)}, &{s}, &{c});"

    def _operation(self, op: str, args: "list[int | float]") -> str:
        if op in INFIX:
            return f"{self.text(args[0])} {op} {self.text(args[1])}"
        if op == "neg":
            return f"-{self.text(args[0])}"
        if op.startswith(PICK):
            test = Guard(op.removeprefix(PICK), args[0], args[1], True)
            return f"CHOOSE({self.test(test)}, {self.value(args[2])}, {self.value(args[3])})"
        if op == "as":
            return self.value(args[0])
        return f"F_{op}({', '.join(map(self.value, args))})"

    def test(self, guard: Guard) -> str:
        """A guard as a mask of the worlds in which it holds."""
        a, b = self.text(guard.left), self.text(guard.right)
        told = f"TEST(({a} - {a}) == 0.0)" if guard.op == "finite" else f"TEST({a} {guard.op} {b})"
        return told if guard.held else f"~{told}"


def emit(step: TracedStep, width: int, parameters: dict[tuple, int], most: int = 0) -> str:
    """The text of `step` with so many worlds in a register; parameters: where each is among those of the driver.

    most: operations of a function, where the step is to be cut (`cuts`); by default long steps are.
    """
    body = function(step, width > 1, parameters, most or piece_of(step))
    beside = [line for room in ROOM if any(f"real_{room} " in line for line in body) for line in side_by_side(room)]
    return "\n".join([prelude(width), *beside, START, *body, END]) + "\n"


def piece_of(step: TracedStep) -> int:
    """How many operations of a step go into a function; 0: all."""
    return PIECE if step.operations > LONG else 0


def function(step: TracedStep, wide: bool, parameters: dict[tuple, int], most: int, name: str = "step") -> list[str]:
    """Lines of a step as a function; before it its pieces, where it has more operations than a `most` that is given."""
    graph = step.graph
    names = {
        at: f"s{given[1]}" if given[0] == STATE else f"p[{parameters[given]}]"
        for given, at in graph.inputs.items()
        if given[0] == STATE or given in parameters
    }
    if most and step.operations > most and not graph.loops:  # a loop is not cut
        pieces, lines, body = _pieces(step, wide, names, most, name)
    else:
        body = Body(graph, graph.live(step.roots), names, wide)
        pieces, lines = [], [*_reads(graph, set(body.live)), *body.lines(step.guards)]
    counts = [(-1 - k, value) for k, value in enumerate(step.counts)] if graph.loops else []
    for row, value in (*step.outputs.items(), *counts):
        new = body.value(value)
        lines.append(f"s[{row}] = CHOOSE(going, {new}, s[{row}]);" if wide else f"s[{row}] = {new};")
    return [*pieces, f"WHOLE mask {name}(real *s, const real *p, mask going) {{", *lines, "return going;", "}"]


def _reads(graph: Graph, inputs: Collection[int]) -> list[str]:
    """Rows of the state that are among inputs."""
    rows = [name[1] for name, at in graph.inputs.items() if name[0] == STATE and at in inputs]
    return [f"const real s{row} = s[{row}];" for row in rows]


def _pieces(
    step: TracedStep, wide: bool, names: dict[int, str], most: int, name: str
) -> tuple[list[str], list[str], Body]:
    """Functions of pieces, the lines that call them, and what is left by them; t[place] are the values between.

    Each returns the worlds whose guards held up to there.
    """
    graph = step.graph
    found = cut(graph, list(step.outputs.values()), step.guards, most)
    lines = []
    for k, piece in enumerate(found.pieces):
        body = Body(graph, piece.nodes, names, wide)
        lines += [f"APART mask {name}_{k}(const real *s, const real *p, real *t, mask going) {{"]
        lines += _reads(graph, set(piece.inputs))
        lines += [f"const real t{at} = t[{place}];" for at, place in piece.given.items()]
        lines += body.lines(piece.guards)
        lines += [*(f"t[{place}] = t{at};" for at, place in piece.kept.items()), "return going;", "}"]
    calls = [f"real t[{max(found.places, 1)}];"]
    calls += [f"if (!ANY(going = {name}_{k}(s, p, t, going))) return going;" for k in range(len(found.pieces))]
    calls += _reads(graph, {value for value in step.outputs.values() if isinstance(value, int)})
    return lines, calls, Body(graph, [], {**names, **{at: f"t[{place}]" for at, place in found.ends.items()}})


CALL = """typedef struct {
  const variant *step; double *state; const double *const *parameter; const long long *pitch; long long *done, *used;
  double *before; const char *const *now; const char *kept; const long long *size; const double *h;
  long long variants, worlds, first, end, steps, arrays, fresh;
  double nominal;
} call;"""


def counting(width: int) -> str:
    """The text of `count_loops`: what steps that keep loops have left before their state, into `used`."""
    return f"""static void count_loops(mask counted, const real *s, long long *used, long long worlds) {{
  for (int j = 1; j <= 2; ++j) {{
    const real taken = CHOOSE(counted, s[-j], K(0.0));
    if (ANY(TEST(taken > 0.0)))
      for (int i = 0; i < {width}; ++i) {{
        long long *all = used + (j - 1) * worlds + i, mine = (long long)LANE(taken, i);
        *all += mine;
        if (j == 1 && all[2 * worlds] < mine) all[2 * worlds] = mine;
      }}
  }}
}}"""


def driver(rows: int, parameters: int, width: int) -> str:
    """The text of `run`, for a state of so many rows, and so many parameters that worlds have of their own.

    state      [row, world]; parameter: where each begins, pitch: from one world to the next
    first, end worlds to be taken, a multiple of the width; done [world]: steps that each has behind it, counted up to
               `steps`; used [COUNTS + variant, world]: by which variants, and before them, of variants that keep loops,
               iterations, sub-steps, and the most iterations of a step; fresh: both are zero yet
    before     [row, world] where the state before the last step is left, and that step is not counted in `used`; or 0
    now, kept  arrays of the system, and what they held when the step was traced; h: the size of a step, and `nominal`
               what it was then. Where something is another, nothing is done.

    Returns how many worlds are short of their steps; and WILD, where a number is not finite or out of all proportion.
    """
    load, count = ("*(loose *)", "*(loose_mask *)") if width > 1 else ("*", "*")
    return f"""{prelude(width)}
{START}
int memcmp(const void *, const void *, unsigned long);
typedef mask (*variant)(real *, const real *, mask);
{CALL}
{counting(width)}

long long run(const call *c) {{
  if (c->h && *c->h != c->nominal) return {CHANGED};
  const char *kept = c->kept;
  for (long long k = 0; k < c->arrays; kept += c->size[k++])
    if (memcmp(c->now[k], kept, (unsigned long)c->size[k])) return {CHANGED};
  const long long worlds = c->worlds, variants = c->variants, steps = c->steps;
  double *const state = c->state, *const before = c->before;
  long long short_of = 0, wild = 0;
  for (long long w = c->first; w < c->end; w += {width}) {{
    real all[{rows + 2}], *const s = all + 2, p[{max(parameters, 1)}];
    long long last = 0;
    for (int k = 0; k < {rows}; ++k) s[k] = {load}(state + k * worlds + w);
    for (int k = 0; k < {parameters}; ++k)
      for (int i = 0; i < {width}; ++i) LANE(p[k], i) = c->parameter[k][(w + i) * c->pitch[k]];
    mask n = {count}(c->done + w);
    if (c->fresh) {{
      n = n & 0;
      for (long long k = 0; k < variants + {COUNTS}; ++k) {count}(c->used + k * worlds + w) = n;
    }}
    mask going = TEST(n < steps);
    while (ANY(going)) {{
      mask left = going, counted = ~(going & 0);
      if (before) {{
        const mask ends = going & TEST(n == steps - 1);
        counted = ~ends;
        if (ANY(ends))
          for (int k = 0; k < {rows}; ++k)
            {load}(before + k * worlds + w) = CHOOSE(ends, s[k], {load}(before + k * worlds + w));
      }}
      for (long long v = 0; v < variants && ANY(left); ++v) {{
        const long long k = (last + v) % variants;
        s[-1] = s[-2] = K(0.0);
        const mask held = c->step[k](s, p, left);
        count_loops(held & counted, s, c->used + w, worlds);
        {count}(c->used + ({COUNTS} + k) * worlds + w) -= held & counted;
        n -= held;
        left &= ~held;
        if (ANY(held)) {{ if (v > 0 && !ANY(left)) last = k; }}
      }}
      going &= ~left & TEST(n < steps);
    }}
    mask tame = ~(n & 0);
    for (int k = 0; k < {rows}; ++k) {{
      tame &= TEST(F_abs(s[k]) <= {MOST!r});
      {load}(state + k * worlds + w) = s[k];
    }}
    {count}(c->done + w) = n;
    wild |= ANY(~tame);
    for (int i = 0; i < {width}; ++i) short_of += LANE(n, i) < steps;
  }}
  return short_of + (wild ? {WILD} : 0);
}}
{END}
"""


def parameters_of(step: TracedStep) -> list[tuple]:
    """The parameters that are inputs."""
    return [name for name in step.graph.inputs if name[0] == PARAMETER]
