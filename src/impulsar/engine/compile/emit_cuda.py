"""Traced steps as CUDA C: a thread takes a world, whose state stays in registers over all steps of a launch.

The functions are those of `emit_c`, one world wide and without a jump where a guard breaks, so that with no product and
sum fused (`nvrtc`) the bits are those of the CPU's compiled text; but for tan, exp, log, pow and the like, which are
CUDA's own. Where more values are alive than a thread has registers for, it is settled here which are put aside, and
where (`places`). Two kernels, one thread a world, arrays [row, world]:

    run    steps forward, each by the first of several variants whose guards hold; a world for which none does stops
           there and is left as it was before that step
    back   adjoints of steps, from the last to the first

`on_host` makes a text of the same kernel for the CPU: what runs on no GPU here is run there.
"""

from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

from .adjoint import Places
from .again import cost_of, make_again
from .cuts import alive, operations
from .emit_c import END, START, Body, function, prelude
from .graph import LEFT, Graph
from .places import BREAK, CLOSE, DO, FETCH, KEEP, LEAVE, OPEN, SET, TEST, WRITE, Action, plan
from .step import STATE, TracedStep

SMALL = 48  # values alive in a step that leave room for twice the threads
WIDE = 120  # from which on it is settled here what is put aside: below, a compiler puts aside next to nothing
ROOM = 108  # values that are in registers then; the rest of them is for addresses and what operations need themselves
NEAR = 96  # places of a thread in shared memory: 48 kB a block, as much as one has without being asked
CLOSE_BY, FAR_AWAY = 4, 24  # operations that a value in shared memory costs, and one in local memory, or of the state
ROUNDS = 2  # of looking for what is made again
THREADS, FEW = 128, 64  # of a block; and where values are put aside
COUNT = "#define COUNT(k, now) if (fresh) used[k * worlds + w] = now; else if (now) used[k * worlds + w] += now;"
THINNED: WeakKeyDictionary[Graph, dict[tuple, tuple[TracedStep | None, list[int]]]] = WeakKeyDictionary()  # by outputs
BUILTINS = ("sqrt", "fabs", "floor", "trunc", "memcpy")
DIALECT = [
    *(f"#define __builtin_{name} {name}" for name in BUILTINS),
    "#define __builtin_inf() __longlong_as_double(0x7ff0000000000000LL)",
    "#define __builtin_nan(kind) __longlong_as_double(0x7ff8000000000000LL)",
    *(f"static __device__ __noinline__ double far_{name}(double a) {{ return {name}(a); }}" for name in ("sin", "cos")),
    "static __device__ __noinline__ double far_atan2(double a, double b) { return atan2(a, b); }",
    *(f"#define {name} far_{name}" for name in ("sin", "cos", "atan2")),  # once, not wherever an angle may be large
    "#define WHOLE static __device__ __forceinline__",
    "#define APART static __device__ __noinline__",
]
HOST = [  # what a kernel needs of CUDA
    "#define __global__",
    "#define __device__",
    "#define __forceinline__ inline",
    "#define __noinline__ __attribute__((noinline))",
    "#define __launch_bounds__(...)",
    "#define __shared__",
    "#define __longlong_as_double(bits) __builtin_bit_cast(double, (long long)(bits))",
    "static struct { unsigned x; } blockIdx, blockDim, threadIdx;",
    "static int atomicAdd(int *total, int more) { *total += more; return *total - more; }",
    'extern "C" void *memcpy(void *, const void *, unsigned long);',
    *(f'extern "C" double {name}(double);' for name in ("sqrt", "fabs", "floor", "trunc", "sin", "cos", "tan", "asin")),
    *(f'extern "C" double {name}(double);' for name in ("acos", "atan", "exp", "log", "tanh")),
    *(f'extern "C" double {name}(double, double);' for name in ("atan2", "pow")),
]


def device_prelude() -> str:
    """Types and functions of one world, for a GPU."""
    dropped = ("double ", "#define WHOLE", "#define APART")
    lines = [line for line in prelude(1).splitlines() if not line.startswith(dropped)]
    return "\n".join([*DIALECT, *lines]).replace("static inline ", "static __device__ __forceinline__ ")


def most_alive(step: TracedStep) -> int:
    """Values that are alive at a time, at most; two registers each."""
    order = operations(step.graph, step.roots)
    return int(alive(step.graph, order, step.outputs.values(), step.guards).max())


def bounds(most: int) -> tuple[int, int]:
    """Threads of a block, and blocks that are to fit on a multiprocessor, where so many values are alive."""
    return (THREADS, 4) if most <= SMALL else (THREADS, 2) if most <= WIDE else (FEW, 4)


def can_break(step: TracedStep) -> bool:
    """Whether there is a guard, in a loop or outside."""
    return bool(step.guards) or any(loop.guards for loop in step.graph.loops)


def is_plain(step: TracedStep) -> bool:
    """Whether it is the same for all worlds: nothing breaks, and no loop is kept whose rounds are counted."""
    return not (step.guards or step.graph.loops)


def thinned(step: TracedStep) -> tuple[TracedStep, list[int]]:
    """A step of which less is put aside, and its order; found once."""
    known = THINNED.setdefault(step.graph, {})
    outputs = tuple(step.outputs.items())
    if outputs not in known:
        order = operations(step.graph, step.roots)
        has_loops = any(step.graph.nodes[at][0] == LEFT for at in order)
        found, order = (step, order) if has_loops else make_again(step, order, cost, ROUNDS)
        known[outputs] = None if found is step else found, order  # what it keeps must not keep the graph
    other, order = known[outputs]
    return other or step, order


def cost(step: TracedStep, order: Sequence[int]) -> float:
    """Of a step, in operations."""
    found = plan(step, order, ROOM, NEAR)
    total = 0
    for action in found.actions:
        if action.way == DO:
            total += cost_of(step.graph, action.node)
        elif action.way in (KEEP, FETCH):
            total += CLOSE_BY if found.place.get(action.node, NEAR) < NEAR else FAR_AWAY
    return total


class Planned:
    """Lines of a step whose values have places."""

    def __init__(self, step: TracedStep, parameters: dict[tuple, int]):
        step, order = thinned(step)
        graph = self.graph = step.graph
        self.plan = plan(step, order, ROOM, NEAR)
        self.rows = {at: name[1] for name, at in graph.inputs.items() if name[0] == STATE}
        names = {at: f"p[{parameters[name]}]" for name, at in graph.inputs.items() if name in parameters}
        self.body = Body(graph, graph.live(step.roots), names, wide=True)
        self.lefts: dict[int, list[int]] = {}  # what a symbol of a loop is called after the last round
        for at in self.body.live:
            if graph.nodes[at][0] == LEFT:
                self.lefts.setdefault(graph.variable(at), []).append(at)
        self._done: list[set] = [set()]  # angles whose sine and cosine are there, in each loop around
        self._fetched = 0

    def function(self, name: str) -> list[str]:
        """As a function."""
        lines = [line for action in self.plan.actions for line in self.lines(action)]
        places = ["volatile real *const near = aside + threadIdx.x;", f"volatile real far[{max(self.plan.slow, 1)}];"]
        head = f"WHOLE mask {name}(volatile real *s, const volatile real *p, mask going) {{"
        return [head, *places, *lines, "return going;", "}"]

    def lines(self, action: Action) -> list[str]:
        """Of one action."""
        body, way = self.body, action.way
        if way == DO:
            op, *args = self.graph.nodes[action.node]
            return body._one(action.node, op, args, self._done[-1])
        if way == TEST:
            return [body._broken(action.guard)] if action.guard else []
        if way == LEAVE:
            return ["if (!ANY(going)) return going;"]
        if way == KEEP:
            return [f"{self.place(action.node)} = {body.text(action.node)};"]
        if way in (WRITE, SET):
            places = [f"s[{where}]" if way == WRITE else self.place(where) for where, _ in action.changes]
            return [f"{place} = {body.value(a)};" for place, (_, a) in zip(places, action.changes, strict=True)]
        return [self._fetch(action.node)] if way == FETCH else self._round(action)

    def place(self, at: int) -> str:
        """Of a value in memory."""
        if at in self.rows:
            return f"s[{self.rows[at]}]"
        k = self.plan.place[at]
        return f"near[{k * FEW}]" if k < NEAR else f"far[{k - NEAR}]"

    def _fetch(self, at: int) -> str:
        self._fetched += 1
        name = f"f{self._fetched}"
        self.body.names.update(dict.fromkeys((at, *self.lefts.get(at, ())), name))
        return f"const real {name} = {self.place(at)};"

    def _round(self, action: Action) -> list[str]:
        """Where rounds of a loop begin and end."""
        if action.way == OPEN:
            self._done.append(set())
            return ["for (;;) {"]
        if action.way == CLOSE:
            self._done.pop()
            return ["}"]
        assert action.way == BREAK and action.loop is not None
        tests = " & ".join(f"({self.body.test(test)})" for test in action.loop.tests)
        return [f"if (!ANY(going & {tests})) break;"]


def functions(steps: Sequence[TracedStep], parameters: dict[tuple, int], most: int) -> list[str]:
    """The steps as functions step0, step1 ..., of which so many values are alive at a time."""
    if most <= WIDE:
        return [line for k, step in enumerate(steps) for line in function(step, True, parameters, 0, f"step{k}")]
    planned = [Planned(step, parameters) for step in steps]
    shared = f"static __shared__ real aside[{FEW * max(1, *(one.plan.fast for one in planned))}];"
    return [shared, *(line for k, one in enumerate(planned) for line in one.function(f"step{k}"))]


def rows_of(steps: Sequence[TracedStep]) -> tuple[list[int], list[int]]:
    """Rows of the state that some variant reads or writes; and those that one writes."""
    read = set()
    for step in steps:
        live = set(step.graph.live(step.roots))
        read |= {name[1] for name, at in step.graph.inputs.items() if name[0] == STATE and at in live}
    changed = {row for step in steps for row in step.outputs}
    return sorted(read | changed), sorted(changed)


def run_text(steps: Sequence[TracedStep], parameters: Mapping[tuple, int], taped: Sequence[int] = ()) -> str:
    """The text of `run` for the variants of a step; parameters: where each is among those of the kernel.

    state         [row, world]
    parameter     [k] where the numbers of the worlds begin, and pitch: how far it is from one world's to the next's
    done          [world] steps that each has behind it, counted up to `to`; used [3 + variant, world]: by which
                  variants, and before them, of variants that keep loops, iterations, sub-steps, and the most iterations
                  of a step; fresh: both are zero yet, whatever they hold
    missing       [1] worlds that are short of their steps, added up
    before        [row, world] where rows that change are left as they are before the last step; or 0
    tape, which   [step, row of `taped`, world] states before steps, [step, world] variants that took them; or 0

    Of plain steps nothing is counted: all worlds take all of them.
    """
    held, changed = rows_of(steps)
    held = sorted({*held, *taped})
    count = len(steps)
    most = max(map(most_alive, steps))
    threads, blocks = bounds(most)
    lines = [device_prelude(), START, COUNT, *functions(steps, dict(parameters), most)]
    lines += [
        f"__global__ void __launch_bounds__({threads}, {blocks}) run(double *state, const double *const *parameter,"
    ]
    lines += [" const long long *pitch, int *done, int *used, int *missing, double *before, double *tape, int *which,"]
    lines += [" long long worlds, int to, int fresh) {"]
    lines += [" const long long w = (long long)blockIdx.x * blockDim.x + threadIdx.x;", " if (w >= worlds) return;"]
    counts = not all(map(is_plain, steps))
    lines += [" int n = fresh ? 0 : done[w], last = 0;" if counts else " int n = 0, last = 0;", " if (n >= to) return;"]
    kind = "volatile real" if most > WIDE else "real"
    lines += [f" {kind} all[{max(held, default=0) + 3}], *const s = all + 2; real p[{max(len(parameters), 1)}];"]
    lines += [f" s[{row}] = state[{row}ll * worlds + w];" for row in held]
    lines += [f" p[{k}] = parameter[{k}][w * pitch[{k}]];" for k in range(len(parameters))]
    counters = [*("iterations", "substeps", "most"), *(f"c{k}" for k in range(count))]
    lines += [f" int {', '.join(f'{name} = 0' for name in counters)};", " while (n < to) {"]
    lines += ["  if (before && n == to - 1) {"]
    lines += [f"   before[{row}ll * worlds + w] = s[{row}];" for row in changed]
    lines += ["  }", *_taping(taped), "  mask held = 0;"]
    lines += [*_attempts(count), "  if (!held) break;"]
    if any(step.graph.loops for step in steps):
        lines += ["  iterations += (int)s[-1]; substeps += (int)s[-2]; if (s[-1] > most) most = (int)s[-1];"]
    lines += ["  if (which) which[n * worlds + w] = last;"] if taped else []
    lines += ["  ++n;", " }"]
    lines += [f" state[{row}ll * worlds + w] = s[{row}];" for row in changed]
    if counts:
        lines += [" done[w] = n;", *(f" COUNT({k}ll, {name})" for k, name in enumerate(counters) if k != 2)]
        lines += [" if (fresh || used[2 * worlds + w] < most) used[2 * worlds + w] = most;"]
        lines += [" if (n < to) atomicAdd(missing, 1);"]
    return "\n".join([*lines, "}", END]) + "\n"


def _taping(taped: Sequence[int]) -> list[str]:
    if not taped:
        return []
    lines = [f"   tape[(n * {len(taped)}ll + {k}) * worlds + w] = s[{row}];" for k, row in enumerate(taped)]
    return ["  if (tape) {", *lines, "  }"]


def _attempts(count: int) -> list[str]:
    """Lines that try the variants one after the other, the one first that took the last step."""
    if count == 1:
        return ["  s[-1] = s[-2] = 0.0;", "  held = step0(s, p, -1);", "  c0 -= (int)held;"]
    cases = [f"    case {k}: held = step{k}(s, p, -1); c{k} -= (int)held; break;" for k in range(count)]
    lines = [
        f"  for (int v = 0; v < {count}; ++v) {{",
        "   s[-1] = s[-2] = 0.0;",
        "   switch (last) {",
        *cases,
        "   }",
        "   if (held) break;",
    ]
    return [*lines, f"   last = last + 1 == {count} ? 0 : last + 1;", "  }"]


def back_text(adjoints: Sequence[TracedStep], places: Places) -> str:
    """The text of `back`, for the adjoints of variants, as `Adjoint.placed` has them.

    tape [step, row that is read, world], which [step, world]: the adjoint of each, -1: none, it is left out;
    numbers [place, world]: parameters, λ and gradients.
    """
    read, size, count = len(places.read), places.size, len(adjoints)
    most = max(map(most_alive, adjoints))
    threads, blocks = bounds(max(most, SMALL + 1))
    lines = [device_prelude(), START, *functions(adjoints, {}, most)]
    lines += [
        f"__global__ void __launch_bounds__({threads}, {blocks}) back("
        "const double *tape, const int *which, double *numbers,"
    ]
    lines += [" long long worlds, int steps) {"]
    lines += [" const long long w = (long long)blockIdx.x * blockDim.x + threadIdx.x;", " if (w >= worlds) return;"]
    lines += [f" {'volatile real' if most > WIDE else 'real'} all[{size + 2}], *const s = all + 2;"]
    lines += [f" s[{k}] = numbers[{k}ll * worlds + w];" for k in range(read, size)]
    lines += [" for (int n = steps - 1; n >= 0; --n) {"]
    lines += [f"  s[{k}] = tape[(n * {read}ll + {k}) * worlds + w];" for k in range(read)]
    lines += ["  switch (which[n * worlds + w]) {"]
    lines += [f"   case {k}: step{k}(s, s, -1); break;" for k in range(count)]
    lines += ["  }", " }", *(f" numbers[{k}ll * worlds + w] = s[{k}];" for k in range(places.adjoint, size))]
    return "\n".join([*lines, "}", END]) + "\n"


RUN = (
    "double *",
    "const double *const *",
    "const long long *",
    *["int *"] * 3,
    *["double *"] * 2,
    "int *",
    "long long",
    "int",
    "int",
)
BACK = ("const double *", "const int *", "double *", "long long", "int")


def on_host(text: str, name: str, kinds: Sequence[str]) -> str:
    """A kernel's text for the CPU: `launch` takes what a GPU's launch does, and runs one thread after the other."""
    given = ", ".join(f"*({kind} *)given[{k}]" for k, kind in enumerate(kinds))
    return "\n".join(
        [
            *HOST,
            text,
            START,
            "void launch(void **given, unsigned blocks, unsigned threads) {",
            " blockDim.x = threads;",
            " for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)",
            f"  for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) {name}({given});",
            "}",
            END,
            "",
        ]
    )
