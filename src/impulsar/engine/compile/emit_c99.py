"""A tree of ways through a step as C99 that needs nothing but the C library's mathematics.

Every branch ends in a return, so that what two ways do not share is written one after the other and blocks are nested
no deeper than the logarithm of their number. All is computed before anything is written: a step that goes none of the
ways, or ends in what is no number, leaves the state as it was and says so.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from .emit_c import INFIX, quarters
from .graph import Guard
from .paths import Ref, Tree, Way
from .sines import ANGLE, HALF_PI, HALF_TURN, LARGEST, LARGEST_SIDE, MAGIC, STEEP, TO_TURNS, TURNS, coefficients

LIBRARY = {"abs": "fabs"}  # what is called otherwise in C
OWN = {"max": "larger", "min": "smaller", "atan2": "angle_of"}
(_QUARTER, _LESS), (_RIGHT, _LOWER), (_HALF, _LOW) = (*TURNS, HALF_TURN)

FUNCTIONS = {  # in C, by the words that call them
    "larger(": """static double larger(double a, double b) { return a > b ? a : b; }
""",
    "smaller(": """static double smaller(double a, double b) { return a < b ? a : b; }
""",
    "turn(": f"""
/* sine and cosine: x less a multiple of pi/2 in three parts, then series; the same bits on every machine */
static void turn(double x, double *s, double *c) {{
  const double magic = {MAGIC!r}, t = x * {TO_TURNS!r} + magic, k = t - magic;
  const double r = ((x - k * {HALF_PI[0]!r}) - k * {HALF_PI[1]!r}) - k * {HALF_PI[2]!r}, z = r * r, u = z * z;
  const double a = r + r * z * {quarters(coefficients(3))}, half = 0.5 * z, w = 1.0 - half;
  const double b = w + (((1.0 - w) - half) + z * z * {quarters(coefficients(4))});
  uint64_t n;
  memcpy(&n, &t, sizeof n);
  *s = (n & 1u) ? b : a;
  *c = (n & 1u) ? a : b;
  if (n & 2u) *s = -*s;
  if ((n + 1u) & 2u) *c = -*c;
  if (!(fabs(x) <= {LARGEST!r})) {{
    *s = sin(x);
    *c = cos(x);
  }}
}}
""",
    "angle_of(": f"""
/* atan2 by one quotient and a polynomial; the same bits on every machine */
static double angle_of(double y, double x) {{
  const double a = fabs(x), b = fabs(y), most = b > a ? b : a, least = b > a ? a : b;
  const int far = least > {STEEP!r} * most;
  const double number = far ? least - most : least, of = far ? least + most : most;
  const double r = number / (of == 0.0 ? 1.0 : of), z = r * r, u = z * z;
  double t = r + r * z * {quarters(ANGLE)};
  if (!(most <= {LARGEST_SIDE!r})) return atan2(y, x);
  if (far) t = {_QUARTER!r} + (t + {_LESS!r});
  if (b > a) t = {_RIGHT!r} - (t - {_LOWER!r});
  if (x < 0.0) t = {_HALF!r} - (t - {_LOW!r});
  return y < 0.0 ? -t : t;
}}
""",
}


def functions(text: str) -> str:
    """What a text calls."""
    return "".join(body for call, body in FUNCTIONS.items() if f" {call}" in text)


def number(value: float) -> str:
    """A constant in C."""
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "(-INFINITY)"
    return repr(value) if value >= 0.0 else f"({value!r})"


class Text:
    """The body of a function that goes one way through a tree.

    names: of inputs, in C; store: a line that writes an output; lost, broken: what it returns.
    """

    def __init__(self, tree: Tree, names: dict[int, str], store: Callable[[Any, str], str], lost: str, broken: str):
        self.tree, self.names, self.store, self.lost, self.broken = tree, names, store, lost, broken

    def lines(self) -> list[str]:
        return self._follow(self.tree.ways, 0, set(), "  ")

    def _follow(self, ways: Sequence[Way], k: int, done: set[int], gap: str) -> list[str]:
        """From guard k on, of ways that agree up to there."""
        out: list[str] = []
        while True:
            if len(ways) == 1 and k >= len(ways[0].guards):
                return out + self._end(ways[0], done, gap)
            guard = ways[0].guards[k]
            out += self._compute([guard.left, guard.right], done, gap)
            same = [way for way in ways if way.guards[k] == guard]
            other = [way for way in ways if way.guards[k] != guard]
            if not other:
                out.append(f"{gap}if ({self._test(guard, not guard.held)}) return {self.lost};")
                k += 1
                continue
            answered = all(way.guards[k][:3] == guard[:3] for way in other)  # the same comparison, otherwise
            if len(same) <= len(other):
                out.append(f"{gap}if ({self._test(guard, guard.held)}) {{")
                out += [*self._follow(same, k + 1, set(done), gap + "  "), gap + "}"]
                ways, k = other, k + answered
            else:
                out.append(f"{gap}if ({self._test(guard, not guard.held)}) {{")
                out += [*self._follow(other, k + answered, set(done), gap + "  "), gap + "}"]
                ways, k = same, k + 1

    def _end(self, way: Way, done: set[int], gap: str) -> list[str]:
        values = list(way.outputs.values())
        lines = self._compute(values, done, gap)
        computed = dict.fromkeys(value for value in values if isinstance(value, int) and value not in self.names)
        checks = " + ".join(f"({self.text(a)} - {self.text(a)})" for a in computed)
        if checks:
            lines.append(f"{gap}if (!({checks} == 0.0)) return {self.broken};")
        lines += [gap + self.store(row, self.text(value)) for row, value in way.outputs.items()]
        return [*lines, f"{gap}return 0;"]

    def text(self, a: Ref) -> str:
        return number(a) if isinstance(a, float) else self.names.get(a, f"t{a}")

    def _test(self, guard: Guard, held: bool) -> str:
        a, b = self.text(guard.left), self.text(guard.right)
        told = f"{a} - {a} == 0.0" if guard.op == "finite" else f"{a} {guard.op} {b}"
        return told if held else f"!({told})"

    def _compute(self, roots: Sequence[Ref], done: set[int], gap: str) -> list[str]:
        lines = []
        for at in self.tree.needed(roots, done):
            if at in done:  # the cosine of a sine
                continue
            op, *args = self.tree.nodes[at]
            done.add(at)
            if op in ("sin", "cos"):
                lines.append(gap + self._turn(args[0], done))
            else:
                lines.append(f"{gap}const double t{at} = {self._operation(op, args)};")
        return lines

    def _turn(self, angle: int, done: set[int]) -> str:
        found = {op: self.tree.find(op, angle) for op in ("sin", "cos")}
        done.update(at for at in found.values() if at is not None)
        s, c = (f"{op}{angle}" if at is None else f"t{at}" for op, at in found.items())
        return f"double {s}, {c}; turn({self.text(angle)}, &{s}, &{c});"

    def _operation(self, op: str, args: list[Ref]) -> str:
        given = [self.text(a) for a in args]
        if op in INFIX:
            return f"{given[0]} {op} {given[1]}"
        if op == "neg":
            return f"-{given[0]}"
        return f"{OWN.get(op) or LIBRARY.get(op, op)}({', '.join(given)})"
