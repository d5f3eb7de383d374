"""A frozen world in C: header, glue and an object, or all of it as one C++ source; and a program that runs it."""

import re
import textwrap
from collections.abc import Sequence

import numpy as np

from ...engine.compile.emit_c99 import number
from ..c99 import WIDTH, comment, remark
from .frozen import BOOKS, COORDINATES, REFRESH, STEP, Frozen, Port
from .kernels import TAG, compile_object, symbol
from .portable import portable_text

FAST = ("-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-fno-tree-loop-vectorize")  # g++ needs them


def object_files(frozen: Frozen, level: str) -> dict[str, bytes]:
    """Header, glue, object for a processor, and an example, by their names."""
    n = frozen.name
    made = compile_object(frozen.kernel_text, level).replace(TAG.encode(), frozen.tag.encode())
    build = f"gcc -O2 -ffp-contract=off {n}_main.c {n}.c {n}_kernel.o -lm -o {n}"
    return {
        f"{n}.h": header(frozen, f"Build with: {build}; the object is for {level} processors.").encode(),
        f"{n}.c": source(frozen).encode(),
        f"{n}_kernel.o": made,
        f"{n}_main.c": example(frozen).encode(),
    }


def portable_files(frozen: Frozen) -> dict[str, bytes]:
    """Header, one source of C++, and an example, by their names."""
    n = frozen.name
    build = f"g++ -std=c++17 {' '.join(FAST)} -ffp-contract=off {n}_main.c {n}.cpp -lm -o {n}"
    told = f"Build with: {build}; -march=native is for the processor at hand; other flags but the last leave the bits."
    return {
        f"{n}.h": header(frozen, told).encode(),
        f"{n}.cpp": one_source(frozen).encode(),
        f"{n}_main.c": example(frozen).encode(),
    }


def one_source(frozen: Frozen) -> str:
    """Kernels and glue as one text of C++."""
    return source(frozen) + "\n" + portable_text(frozen.kernel_text.replace(TAG, frozen.tag))


# header -------------------------------------------------------------------------------------------------------


def header(frozen: Frozen, build: str) -> str:
    """The interface."""
    n, big = frozen.name, frozen.name.upper()
    pose = "struct { double position[3], orientation[4], velocity[3], angular_velocity[3]; }"
    poses = [f"  {pose} {name}; /* {remark(told)} */" for name, (told, _) in frozen.bodies.items()]
    return "\n".join(
        [
            f"/* {comment([*_about(frozen), build])} */",
            f"#ifndef {big}_H\n#define {big}_H\n",
            '#ifdef __cplusplus\nextern "C" {\n#endif\n',
            f"#define {big}_DT {number(frozen.dt)} /* [s] */",
            f"#define {big}_STATES {len(frozen.states)}",
            f"#define {big}_INPUTS {len(frozen.inputs)}",
            f"#define {big}_PARAMETERS {len(frozen.parameters)}",
            f"#define {big}_OUTPUTS {len(frozen.outputs)}",
            f"#define {big}_WORDS {_size(frozen)}\n",
            "/* what a call returns; unless it is 0, the state is as it was */",
            f"enum {{ {big}_OK = 0, {big}_BROKEN = 1, {big}_NOT_FINITE = 2, {big}_OUT_OF_RANGE = 3 }};\n",
            "/* all the memory of one mechanism; it points into itself, so copy it by the function below */",
            f"typedef struct {{ double word[{big}_WORDS]; }} {n}_model;\n",
            "/* motors, loads and currents: SI units; profiles by their numbers */",
            *_struct(f"{n}_inputs", [_member(port) for port in frozen.inputs]),
            "/* numbers of bodies, springs and joints */",
            *_struct(f"{n}_parameters", [_member(port) for port in frozen.parameters]),
            "/* joint coordinates and rates; of bodies the centre of mass and the orientation, a quaternion x y z w */",
            *_struct(
                f"{n}_outputs",
                [
                    *[_member(port) for port in (frozen.time, *frozen.coordinates, *frozen.rates)],
                    *poses,
                    *[_member(port) for port in frozen.energies],
                ],
            ),
            f"void {n}_start({n}_model *model, {n}_inputs *inputs); /* where the export began, and its inputs */",
            f"int {n}_step({n}_model *model, const {n}_inputs *inputs); /* inputs may be 0: as they were */",
            f"/* a step of h [s], in equal parts of at most {big}_DT */",
            f"int {n}_advance({n}_model *model, const {n}_inputs *inputs, double h);",
            f"int {n}_read({n}_model *model, {n}_outputs *outputs);",
            f"void {n}_get(const {n}_model *model, double x[{big}_STATES]);",
            f"int {n}_set({n}_model *model, const double x[{big}_STATES]);",
            f"void {n}_copy({n}_model *to, const {n}_model *from);",
            f"void {n}_defaults({n}_parameters *parameters);",
            f"int {n}_tune({n}_model *model, const {n}_parameters *parameters);",
            f"const char *{n}_state_name(int k); /* what number k of a state is */\n",
            "#ifdef __cplusplus\n}\n#endif\n#endif",
        ]
    ) + "\n"  # fmt: skip


def _about(frozen: Frozen) -> list[str]:
    return [
        f"Model '{frozen.title}', written by Impulsar: the engine's own kernel with this model's arrays, a step of "
        f"{frozen.dt:g} s by {frozen.method}.",
        f"A mechanism is {8 * _size(frozen)} bytes; nothing is allocated, several may run at once, each in one thread "
        "at a time. Needs 64 bits, little endian, and of libraries only math and memcpy.",
        *[f"{note[0].upper()}{note[1:]}." for note in frozen.notes],
    ]


def _struct(name: str, members: list[str]) -> list[str]:
    return ["typedef struct {", *(members or ["  double unused;"]), f"}} {name};\n"]


def _member(port: Port) -> str:
    told = f"{remark(port.told)} [{port.unit}]" if port.unit else remark(port.told)
    return f"  double {port.name}; /* {told}{f', {port.rule}' if port.rule else ''} */"


# glue ---------------------------------------------------------------------------------------------------------


def source(frozen: Frozen) -> str:
    """The image of the memory and the functions of the header, as C that is C++ too."""
    n, big = frozen.name, frozen.name.upper()
    runs, data = _runs(frozen.image.words)
    pointers = [f"{{{at}, {to}}}" for at, to in frozen.image.pointers]
    words = {"inputs": frozen.inputs, "outputs": frozen.outputs}
    tables = [
        _table(f"unsigned {what}_at[{big}_{what.upper()} + 1]", [*[str(port.words[0]) for port in ports], "0"])
        for what, ports in words.items()
    ]
    tuned = [f"{{{word}, {k}}}" for k, port in enumerate(frozen.parameters) for word in port.words]
    least = [{"": "-1", ">= 0": "0", "> 0": "1"}[port.rule] for port in frozen.parameters]
    filled = {
        "n": n,
        "N": big,
        "calls": "\n".join(f"void {symbol(k, frozen.tag)}(void *bounds, void *arguments);" for k in range(4)),
        "about": f"/* {comment(_about(frozen))} */",
        "runs": _table(f"unsigned runs[{len(runs)}][3]", [f"{{{a}, {b}, {c}}}" for a, b, c in runs]),
        "data": _table(f"uint64_t data[{len(data)}]", [f"{int(word):#x}" for word in data]),
        "pointers": _table(f"unsigned pointers[{len(pointers)}][2]", pointers),
        "tables": "\n".join(tables),
        "tuned": _table(f"unsigned tuned[{len(tuned)}][2]", tuned),
        "least": _table(f"signed char least[{big}_PARAMETERS + 1]", [*least, "0"]),
        "starts": _starts("inputs", frozen.inputs),
        "defaults": _starts("parameters", frozen.parameters),
        "stale": "\n".join(f"  memset(d + {at}, 0, {count} * sizeof *d);" for at, count in frozen.stale),
        "states": _table(f"char *const state_name[{big}_STATES]", [f'"{one}"' for one in frozen.states]),
        "substeps": str(frozen.substeps),
        "backup": str(len(frozen.image.words)),
        **{place: str(word) for place, word in frozen.places.items()},
        **{
            role: f"{symbol(k, frozen.tag)}(d + {call.bounds}, d + {call.arguments})"
            for role, k in (("step", STEP), ("refresh", REFRESH), ("coordinates", COORDINATES), ("books", BOOKS))
            for call in [frozen.image.calls[k]]
        },
    }
    return re.sub(r"@(\w+)@", lambda found: filled[found[1]], GLUE)


def _size(frozen: Frozen) -> int:
    """Words of a mechanism: its arrays, and its state before a step."""
    return len(frozen.image.words) + len(frozen.states)


def _runs(words: np.ndarray) -> tuple[list[tuple[int, int, int]], np.ndarray]:
    """Stretches of words that are not 0: (where, which of the data, how many), and the data."""
    used = np.flatnonzero(words)
    breaks = np.flatnonzero(np.diff(used) > 4) + 1  # a few words of zeros cost less than a stretch
    runs: list[tuple[int, int, int]] = []
    data: list[np.ndarray] = []
    for part in np.split(used, breaks):
        runs.append((int(part[0]), sum(len(one) for one in data), int(part[-1] - part[0] + 1)))
        data.append(words[part[0] : part[-1] + 1])
    return runs, np.concatenate(data)


def _table(name: str, entries: Sequence[str]) -> str:
    text = textwrap.fill(", ".join(entries) or "0", WIDTH, initial_indent="  ", subsequent_indent="  ",
                         break_on_hyphens=False, break_long_words=False)  # fmt: skip
    return f"static const {name.replace('[0]', '[1]', 1)} = {{\n{text}\n}};"


def _starts(what: str, ports: list[Port]) -> str:
    lines = [f"  {what}->{port.name} = {number(port.start + 0.0)};" for port in ports]
    return "\n".join(lines or [f"  {what}->unused = 0.0;"])


def example(frozen: Frozen) -> str:
    """A program that runs the mechanism at 1 kHz."""
    return re.sub(r"@(\w+)@", lambda found: {"n": frozen.name, "N": frozen.name.upper()}[found[1]], MAIN)


GLUE = """@about@
#include "@n@.h"

#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif
@calls@
#ifdef __cplusplus
}
#endif

typedef char needs_64_bits[sizeof(void *) == 8 ? 1 : -1];

@runs@
@data@
@pointers@
@tables@
@tuned@
@least@
@states@

static void point_into(@n@_model *model) {
  double *const d = model->word;
  for (unsigned k = 0; k < sizeof pointers / sizeof *pointers; ++k) {
    double *const to = d + pointers[k][1];
    memcpy(d + pointers[k][0], &to, sizeof to);
  }
}

void @n@_start(@n@_model *model, @n@_inputs *inputs) {
  memset(model, 0, sizeof *model);
  for (unsigned k = 0; k < sizeof runs / sizeof *runs; ++k)
    memcpy(model->word + runs[k][0], data + runs[k][1], runs[k][2] * sizeof *data);
  point_into(model);
  if (inputs == 0) return;
@starts@
}

static int all_finite(const double *x, int count) {
  for (int k = 0; k < count; ++k)
    if (!(x[k] - x[k] == 0.0)) return 0;
  return 1;
}

static int take(@n@_model *model, const @n@_inputs *inputs, double each, int parts) {
  double *const d = model->word;
  const int32_t steps = parts;
  if (inputs != 0) {
    const double *const given = (const double *)inputs;
    if (!all_finite(given, @N@_INPUTS)) return @N@_NOT_FINITE;
    for (int k = 0; k < @N@_INPUTS; ++k) d[inputs_at[k]] = given[k];
  }
  d[@h@] = each;
  d[@nominal_h@] = each;
  memcpy(d + @steps@, &steps, sizeof steps);
  memcpy(d + @backup@, d + @state@, @N@_STATES * sizeof *d);
  @step@;
  if (d[@broken@] == 0.0) return @N@_OK;
  memcpy(d + @state@, d + @backup@, @N@_STATES * sizeof *d);
  @refresh@;
  return @N@_BROKEN;
}

int @n@_step(@n@_model *model, const @n@_inputs *inputs) {
  return take(model, inputs, @N@_DT / @substeps@, @substeps@);
}

int @n@_advance(@n@_model *model, const @n@_inputs *inputs, double h) {
  const double part = @N@_DT / @substeps@;
  double parts = h / part;
  if (!(h > 0.0 && parts < 1e9)) return @N@_OUT_OF_RANGE;
  parts = (double)(long)(parts + 0.5);
  if (parts >= 1.0 && h - parts * part < 1e-9 * h && parts * part - h < 1e-9 * h)
    return take(model, inputs, part, (int)parts);
  parts = (double)(int)(h / part) + 1.0;
  return take(model, inputs, h / parts, (int)parts);
}

int @n@_read(@n@_model *model, @n@_outputs *outputs) {
  double *const d = model->word, *const out = (double *)outputs;
  @coordinates@;
  @books@;
  for (int k = 0; k < @N@_OUTPUTS; ++k) out[k] = d[outputs_at[k]];
  return @N@_OK;
}

void @n@_get(const @n@_model *model, double x[@N@_STATES]) {
  memcpy(x, model->word + @state@, @N@_STATES * sizeof *x);
}

int @n@_set(@n@_model *model, const double x[@N@_STATES]) {
  double *const d = model->word;
  if (!all_finite(x, @N@_STATES)) return @N@_NOT_FINITE;
  memcpy(d + @state@, x, @N@_STATES * sizeof *x);
  @refresh@;
  return @N@_OK;
}

void @n@_copy(@n@_model *to, const @n@_model *from) {
  memcpy(to, from, sizeof *to);
  point_into(to);
}

void @n@_defaults(@n@_parameters *parameters) {
@defaults@
}

int @n@_tune(@n@_model *model, const @n@_parameters *parameters) {
  double *const d = model->word, *const e = d + @energy@;
  const double *const given = (const double *)parameters;
  const double before = e[0] + e[1] + e[2];
  if (!all_finite(given, @N@_PARAMETERS)) return @N@_NOT_FINITE;
  for (int k = 0; k < @N@_PARAMETERS; ++k)
    if (least[k] >= 0 && (least[k] == 1 ? !(given[k] > 0.0) : given[k] < 0.0)) return @N@_OUT_OF_RANGE;
  for (unsigned k = 0; k < sizeof tuned / sizeof *tuned; ++k) d[tuned[k][0]] = given[tuned[k][1]];
@stale@
  @refresh@;
  d[@edits@] += e[0] + e[1] + e[2] - before; /* as the engine books it */
  return @N@_OK;
}

const char *@n@_state_name(int k) { return k >= 0 && k < @N@_STATES ? state_name[k] : ""; }
"""

MAIN = """/* Runs the mechanism in real time at 1 kHz and prints how punctual it was: @n@ [seconds]. POSIX. */
#define _GNU_SOURCE
#include "@n@.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define PERIOD 1000000L /* [ns] */

static @n@_model model;
static @n@_inputs inputs;
static @n@_outputs outputs;

static double since(const struct timespec *from) { /* [us] */
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - from->tv_sec) * 1e6 + (double)(now.tv_nsec - from->tv_nsec) * 1e-3;
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void tell(const char *what, double *times, long count) {
  double sum = 0.0;
  for (long k = 0; k < count; ++k) sum += times[k];
  qsort(times, (size_t)count, sizeof *times, by_size);
  printf("%s: mean %.1f us, median %.1f, 99 %% %.1f, largest %.1f\\n", what, sum / (double)count, times[count / 2],
         times[(long)(0.99 * (double)count)], times[count - 1]);
}

int main(int count, char **arguments) {
  const long ticks = count > 1 ? (long)(1000.0 * atof(arguments[1])) : 5000;
  struct sched_param priority;
  struct timespec due;
  double *late, *taken;
  if (ticks < 1 || ticks > 100000000L) return fprintf(stderr, "seconds are 0.001 to 100000\\n"), 2;
  late = (double *)malloc((size_t)ticks * sizeof *late);
  taken = (double *)malloc((size_t)ticks * sizeof *taken);
  if (late == 0 || taken == 0) return fprintf(stderr, "no memory\\n"), 1;
  memset(&priority, 0, sizeof priority);
  priority.sched_priority = 80;
  printf(sched_setscheduler(0, SCHED_FIFO, &priority) == 0 ? "real-time priority\\n" : "ordinary priority\\n");
  mlockall(MCL_CURRENT | MCL_FUTURE); /* nothing is paged out; without the right to, it runs all the same */
  @n@_start(&model, &inputs);
  clock_gettime(CLOCK_MONOTONIC, &due);
  for (long k = 0; k < ticks; ++k) {
    due.tv_nsec += PERIOD;
    if (due.tv_nsec >= 1000000000L) due.tv_nsec -= 1000000000L, ++due.tv_sec;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, 0) != 0) {
    }
    late[k] = since(&due);
    if (@n@_advance(&model, &inputs, 1e-9 * PERIOD) != 0) return fprintf(stderr, "step %ld is broken\\n", k), 1;
    @n@_read(&model, &outputs);
    taken[k] = since(&due) - late[k];
  }
  printf("%ld ticks of 1 ms; simulated time %.9g s, imbalance of energy %.3g J\\n", ticks, outputs.time,
         outputs.imbalance);
  tell("woken late", late, ticks);
  tell("step and reading", taken, ticks);
  free(late);
  free(taken);
  return 0;
}
"""
