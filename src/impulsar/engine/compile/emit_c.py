"""A traced step as C: straight lines, one world or several in a register.

The text is C99 but for vector types, which gcc and clang have. Two functions:

    step(s, p, going)   one step of the worlds in a register, of those that are going: s[row] is read and written, p[k]
                        are parameters that worlds have of their own. Returns the worlds whose guards held; the others
                        are left as they were.
    run(...)            many steps of many worlds (`driver`): each step by the first of several variants whose guards
                        hold; a world for which none does stops there

Sines and cosines are computed here, by their series after a reduction in three parts: the same bits whatever the
number of worlds in a register, and as exact as the C library's to the last bit or so.
"""

import math

from .graph import INPUT, UNARY, Guard
from .step import PARAMETER, STATE, TracedStep

INFIX = ("+", "-", "*", "/")
WIDTHS = (1, 4, 8)
START, END = '#ifdef __cplusplus\nextern "C" {\n#endif', "#ifdef __cplusplus\n}\n#endif"
LARGEST = 1e6  # angle up to which the reduction is exact [rad]
BUILTIN = {"sqrt": "sqrt", "abs": "abs", "floor": "floor", "round": "round"}  # clang has them for vectors
BY_LANE = ("tan", "asin", "acos", "atan", "exp", "log", "tanh")


def _parts_of_half_pi() -> tuple[float, ...]:
    """π/2 as three numbers; the first two have 33 bits, so that small multiples are exact."""
    digits = 1570796326794896619231321691639751442098584699687552910487472296153908203143104499314  # π/2 · 10^84
    scale, parts = 10**84, []
    for bits in (33, 33, 53):
        shift = bits - 1 - math.floor(math.log2(digits / scale))
        whole = (digits << shift) // scale if shift >= 0 else digits // (scale << -shift)
        parts.append(math.ldexp(whole, -shift))
        digits -= whole * scale >> shift if shift >= 0 else whole * (scale << -shift)
    return tuple(parts)


def prelude(width: int) -> str:
    """Types and functions for so many worlds in a register."""
    parts = _parts_of_half_pi()
    lines = [START]
    lines += [f"double {name}(double);" for name in ("sin", "cos", *BY_LANE)]
    lines += ["double atan2(double, double);", "double pow(double, double);"]
    if width == 1:
        lines += ["typedef double real;", "typedef long long mask;"]
        lines += ["#define TEST(c) (-(mask)(c))", "#define CHOOSE(m, a, b) ((m) ? (a) : (b))"]
        lines += ["#define ANY(m) ((m) != 0)", "#define LANE(a, i) (a)"]
    else:
        size = 8 * width
        lines += [f"typedef double real __attribute__((vector_size({size})));"]
        lines += [f"typedef double loose __attribute__((vector_size({size}), aligned(8)));"]
        lines += [f"typedef long long mask __attribute__((vector_size({size})));"]
        lines += [f"typedef long long loose_mask __attribute__((vector_size({size}), aligned(8)));"]
        lines += ["#define TEST(c) (c)", "#define CHOOSE(m, a, b) ((m) ? (a) : (b))", "#define LANE(a, i) (a)[i]"]
        lines += ["static inline int ANY(mask m) { long long a = 0;"]
        lines += [f" for (int i = 0; i < {width}; ++i) a |= m[i]; return a != 0; }}"]
    lines += [
        f"static inline real K(double c) {{ real a; for (int i = 0; i < {width}; ++i) LANE(a, i) = c; return a; }}"
    ]
    for op, name in BUILTIN.items():
        body = f"__builtin_{'f' if op == 'abs' else ''}{name}(a)" if width == 1 else f"__builtin_elementwise_{name}(a)"
        lines.append(f"static inline real F_{op}(real a) {{ return {body}; }}")
    each = f"for (int i = 0; i < {width}; ++i)"
    lines += [
        f"static inline real F_{op}(real a) {{ {each} LANE(a, i) = {op}(LANE(a, i)); return a; }}" for op in BY_LANE
    ]
    lines += [
        f"static inline real F_{op}(real a, real b) {{ {each} LANE(a, i) = {op}(LANE(a, i), LANE(b, i)); return a; }}"
        for op in ("atan2", "pow")
    ]
    lines += ["static inline real F_max(real a, real b) { return CHOOSE(a > b, a, b); }"]
    lines += ["static inline real F_min(real a, real b) { return CHOOSE(a < b, a, b); }"]
    lines += _sine(parts, each)
    lines += [END]
    return "\n".join(lines)


def _series(first: int) -> str:
    """Σ ± z^k / (first + 2 k)!, by Horner's rule, as far as it matters below π/4."""
    orders = range(first, 19, 2)
    text = ""
    for order in reversed(orders):
        sign = 1.0 if (order // 2) % 2 == 0 else -1.0
        term = repr(sign / math.factorial(order))
        text = f"({term})" if not text else f"({term} + z * {text})"
    return text


def _sine(parts: tuple[float, ...], each: str) -> list[str]:
    """SINCOS(x, s, c): x less a multiple of π/2, then series; larger angles by the C library."""
    return [
        "static inline void SINCOS(real x, real *s, real *c) {",
        f" const double magic = 6755399441055744.0;  real t = x * {2.0 / math.pi!r} + magic, k = t - magic;",
        " mask n; __builtin_memcpy(&n, &t, sizeof n);",
        f" real r = ((x - k * {parts[0]!r}) - k * {parts[1]!r}) - k * {parts[2]!r}, z = r * r;",
        f" real a = r + r * z * {_series(3)}, half = 0.5 * z, w = 1.0 - half;",
        f" real b = w + (((1.0 - w) - half) + z * z * {_series(4)});",
        " mask odd = TEST((n & 1) != 0);  real p = CHOOSE(odd, b, a), q = CHOOSE(odd, a, b);",
        " *s = CHOOSE(TEST((n & 2) != 0), -p, p);  *c = CHOOSE(TEST(((n + 1) & 2) != 0), -q, q);",
        f" if (ANY(~TEST(F_abs(x) <= {LARGEST!r})))",
        f"  {each} {{ LANE(*s, i) = sin(LANE(x, i)); LANE(*c, i) = cos(LANE(x, i)); }}",
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
    """Lines that compute nodes of a graph into t0, t1, ...; inputs have names of their own."""

    def __init__(self, step: TracedStep, names: dict[int, str]):
        self.graph, self.names = step.graph, names
        self.live = self.graph.live(step.roots)
        self.turns: dict[int, dict[str, int]] = {}  # sines and cosines by the angle that they share
        for at in self.live:
            op, *args = self.graph.nodes[at]
            if op in ("sin", "cos"):
                self.turns.setdefault(args[0], {})[op] = at

    def text(self, a: "int | float") -> str:
        """An argument; a constant as a number."""
        if isinstance(a, float):
            return constant(a)
        return self.names.get(a, f"t{a}")

    def lines(self) -> list[str]:
        done: set[int] = set()
        out = []
        for at in self.live:
            op, *args = self.graph.nodes[at]
            if op == INPUT:
                continue
            if op in ("sin", "cos"):
                if args[0] not in done:
                    done.add(args[0])
                    out.append(self._turn(args[0]))
                continue
            out.append(f"const real t{at} = {self._operation(op, args)};")
        return out

    def _turn(self, angle: int) -> str:
        found = self.turns[angle]
        s, c = (f"t{found[op]}" if op in found else f"{op}{angle}" for op in ("sin", "cos"))
        return f"real {s}, {c}; SINCOS({self.text(angle)}, &{s}, &{c});"

    def _operation(self, op: str, args: "list[int | float]") -> str:
        if op in INFIX:
            return f"{self.text(args[0])} {op} {self.text(args[1])}"
        if op == "neg":
            return f"-{self.text(args[0])}"
        given = ", ".join(self.text(a) if isinstance(a, int) else f"K({constant(a)})" for a in args)
        return f"F_{op}({given})" if op in UNARY or op in ("max", "min", "atan2", "pow") else f"{op}({given})"

    def test(self, guard: Guard) -> str:
        """A guard as a mask of the worlds in which it holds."""
        a, b = self.text(guard.left), self.text(guard.right)
        told = f"TEST(({a} - {a}) == 0.0)" if guard.op == "finite" else f"TEST({a} {guard.op} {b})"
        return told if guard.held else f"~{told}"


def emit(step: TracedStep, width: int, parameters: dict[tuple, int]) -> str:
    """The text of `step` with so many worlds in a register; parameters: where each is among those of the driver."""
    graph = step.graph
    names = {
        at: f"p[{parameters[name]}]" if name[0] == PARAMETER else f"s{name[1]}" for name, at in graph.inputs.items()
    }
    body = Body(step, names)
    needed = set(body.live)
    read = [name[1] for name, at in graph.inputs.items() if name[0] == STATE and at in needed]
    lines = [prelude(width), START, "mask step(real *s, const real *p, mask going) {"]
    lines += [f"const real s{row} = s[{row}];" for row in read]
    lines += body.lines()
    lines += [f"going &= {body.test(guard)};" for guard in step.guards]
    if width == 1:
        lines += ["if (!going) return going;"]
        lines += [f"s[{row}] = {_new(body, value)};" for row, value in step.outputs.items()]
    else:
        lines += [f"s[{row}] = CHOOSE(going, {_new(body, value)}, s[{row}]);" for row, value in step.outputs.items()]
    return "\n".join([*lines, "return going;", "}", END]) + "\n"


def _new(body: Body, value: "int | float") -> str:
    return body.text(value) if isinstance(value, int) else f"K({constant(value)})"


def driver(rows: int, parameters: int, width: int) -> str:
    """The text of `run`, for a state of so many rows, and so many parameters that worlds have of their own.

    state      [row, world]; parameter: where each begins, pitch: from one world to the next
    from, to   worlds to be taken, a multiple of the width; done [world]: steps that each has behind it, counted up to
               `steps`; used [variant, world]: by which variants
    """
    load, count = ("*(loose *)", "*(loose_mask *)") if width > 1 else ("*", "*")
    return f"""{prelude(width)}
{START}
typedef mask (*variant)(real *, const real *, mask);
void run(const variant *step, long long variants, double *state, long long worlds, const double *const *parameter,
         const long long *pitch, long long from, long long to, long long *done, long long *used, long long steps) {{
  for (long long w = from; w < to; w += {width}) {{
    real s[{rows}], p[{max(parameters, 1)}];
    long long last = 0;
    for (int k = 0; k < {rows}; ++k) s[k] = {load}(state + k * worlds + w);
    for (int k = 0; k < {parameters}; ++k)
      for (int i = 0; i < {width}; ++i) LANE(p[k], i) = parameter[k][(w + i) * pitch[k]];
    mask n = {count}(done + w), going = TEST(n < steps);
    while (ANY(going)) {{
      mask left = going;
      for (long long v = 0; v < variants && ANY(left); ++v) {{
        const long long k = (last + v) % variants;
        const mask held = step[k](s, p, left);
        {count}(used + k * worlds + w) -= held;
        n -= held;
        left &= ~held;
        if (ANY(held)) {{ if (v > 0 && !ANY(left)) last = k; }}
      }}
      going &= ~left & TEST(n < steps);
    }}
    for (int k = 0; k < {rows}; ++k) {load}(state + k * worlds + w) = s[k];
    {count}(done + w) = n;
  }}
}}
{END}
"""


def comparison() -> str:
    """The text of `same`: whether bytes at several places are those that were kept, one after the other."""
    return f"""{START}
int memcmp(const void *, const void *, unsigned long);
long long same(const char *const *now, const char *kept, const long long *size, long long count) {{
  for (long long k = 0; k < count; kept += size[k++])
    if (memcmp(now[k], kept, (unsigned long)size[k])) return 0;
  return 1;
}}
{END}
"""


def parameters_of(step: TracedStep) -> list[tuple]:
    """The parameters that are inputs."""
    return [name for name in step.graph.inputs if name[0] == PARAMETER]
