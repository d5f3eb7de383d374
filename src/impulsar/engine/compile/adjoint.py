"""Reverse mode on a traced step: from the adjoint of the state after it to that before, and gradients of parameters.

    λ_before = (∂after/∂before)ᵀ λ        g += (∂after/∂p)ᵀ λ

The adjoint is more nodes in the step's own graph, so that what step and adjoint share is computed once, and it is
emitted and compiled like the step. One C function goes over the steps of a trajectory from the last to the first,
several worlds in a register. Its numbers of a world, in places one after the other:

    [0, read)      the state before the step, as far as adjoints read it
    [read, +p)     parameters
    then λ         of the rows of the state that count
    then g         of the parameters
"""

from collections.abc import Mapping, Sequence
from typing import Any

from .emit_c import END, START, emit, prelude
from .graph import INPUT, Graph, Scalar, apply
from .reports import Tally
from .step import STATE, TracedStep
from .tangent import partials

ADJOINT, GRADIENT = "adjoint", "gradient"  # inputs (ADJOINT, row) and (GRADIENT, parameter)


def pull_back(graph: Graph, seeds: Mapping[int, Any], inputs: Sequence[Any]) -> list[Any]:
    """Σ seed ∂node/∂input over nodes, for inputs by name: symbols of the graph, or numbers where they are known."""
    graph.refuse_loops("derivatives")
    adjoints: dict[int, Any] = {}
    order = graph.live(seeds)

    def add(a: "int | float", value: Any) -> None:
        if isinstance(a, int) and not (isinstance(value, float) and value == 0.0):
            adjoints[a] = adjoints[a] + value if a in adjoints else value

    for at, seed in seeds.items():
        add(at, seed)
    for at in reversed(order):
        op, *args = graph.nodes[at]
        if op == INPUT or at not in adjoints:
            continue
        given = [Scalar(graph, a) if isinstance(a, int) else a for a in args]
        for a, slope in zip(args, partials(op, given, Scalar(graph, at), apply), strict=True):
            if isinstance(a, int):
                add(a, apply("*", slope, adjoints[at]))
    return [adjoints.get(graph.inputs[name], 0.0) if name in graph.inputs else 0.0 for name in inputs]


class Places:
    """Where the numbers of a world are: rows that are read, parameters, adjoints of rows that count, gradients."""

    def __init__(self, read: Sequence[int], parameters: Sequence[tuple], rows: Sequence[int]):
        self.read, self.parameters, self.rows = list(read), list(parameters), list(rows)
        self.of_state = {row: k for k, row in enumerate(self.read)}
        self.of_parameter = {name: len(self.read) + k for k, name in enumerate(self.parameters)}
        self.adjoint = len(self.read) + len(self.parameters)
        self.of_adjoint = {row: self.adjoint + k for k, row in enumerate(self.rows)}
        self.gradient = self.adjoint + len(self.rows)
        self.size = self.gradient + len(self.parameters)

    def of(self, name: tuple) -> int:
        """Place of a number: (STATE, row), (ADJOINT, row), (GRADIENT, parameter) or a parameter."""
        if name[0] == STATE:
            return self.of_state[name[1]]
        if name[0] == ADJOINT:
            return self.of_adjoint[name[1]]
        if name[0] == GRADIENT:
            return self.gradient + self.of_parameter[name[1]] - len(self.read)
        return self.of_parameter[name]


class Adjoint:
    """The adjoint of a step, of the rows of the state that count and of parameters. Adds to the step's graph."""

    def __init__(self, step: TracedStep, rows: Sequence[int], parameters: Sequence[tuple]):
        graph = self.graph = step.graph
        before = dict(graph.inputs)
        lambdas = {row: graph.input((ADJOINT, row), 1.0) for row in rows}
        seeds: dict[int, Any] = {}
        for row, value in step.outputs.items():
            if row in lambdas and isinstance(value, int):
                seeds[value] = seeds[value] + lambdas[row] if value in seeds else lambdas[row]
        pulled = pull_back(graph, seeds, [*((STATE, row) for row in rows), *parameters])
        self.outputs: dict[tuple, int | float] = {}  # by the name of the number that they are the new value of
        for row, value in zip(rows, pulled, strict=False):
            kept = lambdas[row] if row not in step.outputs else 0.0
            self.outputs[ADJOINT, row] = _node(value + kept)
        for name, value in zip(parameters, pulled[len(rows) :], strict=True):
            if not isinstance(value, float):
                self.outputs[GRADIENT, name] = _node(value + graph.input((GRADIENT, name), 0.0))
        live = set(graph.live(self.outputs.values()))
        self.inputs = {name: at for name, at in graph.inputs.items() if at in live}
        self.read = {name[1] for name in self.inputs if name[0] == STATE}
        self.operations = sum(graph.nodes[at][0] != INPUT for at in live)
        graph.inputs = before

    def placed(self, places: Places) -> TracedStep:
        """As one more step, of the numbers that `Places` has."""
        renamed = Graph()
        renamed.nodes, renamed.values = self.graph.nodes, self.graph.values
        renamed.inputs = {(STATE, places.of(name)): at for name, at in self.inputs.items()}
        return TracedStep(renamed, {places.of(name): value for name, value in self.outputs.items()}, Tally(), [])


def _node(value: Any) -> "int | float":
    return value.at if isinstance(value, Scalar) else float(value)


def adjoint_text(step: TracedStep, width: int) -> str:
    """The text of an adjoint, with so many worlds in a register."""
    return emit(step, width, {})


def driver(places: Places, width: int) -> str:
    """The text of `back`: over steps from the last to the first, for worlds from .. to.

    states [step, read, world]; which [step, world]: the adjoint of each; numbers [size, world]: parameters, λ and g.
    """
    load, whole = ("*(loose *)", "*(loose_mask *)") if width > 1 else ("*", "*")
    read, size = len(places.read), places.size
    return f"""{prelude(width)}
{START}
typedef mask (*variant)(real *, const real *, mask);
void back(const variant *step, const double *states, const long long *which, double *numbers, long long worlds,
          long long from, long long to, long long steps) {{
  for (long long w = from; w < to; w += {width}) {{
    real s[{size}], none[1];
    for (int k = {read}; k < {size}; ++k) s[k] = {load}(numbers + k * worlds + w);
    for (long long n = steps - 1; n >= 0; --n) {{
      for (int k = 0; k < {read}; ++k) s[k] = {load}(states + (n * {read} + k) * worlds + w);
      const mask mine = {whole}(which + n * worlds + w);
      mask left = TEST(mine >= 0);
      while (ANY(left)) {{
        long long v = -1;
        for (int i = 0; i < {width}; ++i) if (LANE(left, i)) v = LANE(mine, i);
        const mask those = left & TEST(mine == v);
        step[v](s, none, those);
        left &= ~those;
      }}
    }}
    for (int k = {places.adjoint}; k < {size}; ++k) {load}(numbers + k * worlds + w) = s[k];
  }}
}}
{END}
"""
