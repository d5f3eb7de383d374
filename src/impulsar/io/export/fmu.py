"""A frozen world as an FMU for co-simulation, FMI 2.0 or 3.0, without Python.

Functions and types are declared from the standards (fmi-standard.org): no header of theirs is needed.
"""

import io
import os
import platform
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

from ...author.errors import ModelError
from ...version import __version__
from .c import header, source
from .fmu_text import COMMON, EXPORTED, FMI2, FMI3
from .frozen import Frozen, Port
from .kernels import TAG, compile_object

VERSIONS = ("3.0", "2.0")
PLACES = {"2.0": "linux64", "3.0": "x86_64-linux"}  # of binaries
COMPILERS = ("gcc", "cc", "clang")


@dataclass(frozen=True)
class Variable:
    """A variable of an FMU; its value reference is its place, 1 for the first."""

    name: str
    port: Port
    causality: str
    variability: str


def variables_of(frozen: Frozen) -> list[Variable]:
    """Inputs, parameters, then outputs: the order in which C has them."""
    taken = {"time"}

    def made(port: Port, causality: str, variability: str) -> Variable:
        plain = ".".join(port.told.replace("'", "").split())
        name, k = plain, 2
        while name in taken:
            name, k = f"{plain}.{k}", k + 1
        taken.add(name)
        return Variable(name, port, causality, variability)

    return [
        *[
            made(port, "input", "continuous") if port.holds else made(port, "parameter", "tunable")
            for port in frozen.inputs
        ],
        *[made(port, "parameter", "tunable") for port in frozen.parameters],
        *[made(port, "output", "continuous") for port in frozen.outputs[1:]],  # time is the independent one
    ]


def to_fmu(frozen: Frozen, version: str = "3.0", level: str = "x86-64-v3", stop: float = 10.0) -> bytes:
    """The bytes of an FMU; stop: of its default experiment [s]. Needs a C compiler."""
    if version not in VERSIONS:
        raise ModelError(f"export: --fmi is {version!r}, expected one of: {', '.join(VERSIONS)}")
    variables = variables_of(frozen)
    token = f"{{{frozen.tag}-impulsar-{__version__}}}"
    library = _library(frozen, version, level, token)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in (
            ("modelDescription.xml", description(frozen, variables, version, token, stop).encode()),
            (f"binaries/{PLACES[version]}/{frozen.name}.so", library),
        ):
            entry = zipfile.ZipInfo(name)  # of no date: the same world gives the same bytes
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return packed.getvalue()


def _library(frozen: Frozen, version: str, level: str, token: str) -> bytes:
    """Glue, kernels and the functions of the standard as a shared library that exports only these."""
    compiler = _compiler()
    n = frozen.name
    text = "\n".join([COMMON, FMI2 if version == "2.0" else FMI3])
    text = text.replace("@n@", n).replace("@N@", n.upper()).replace("@token@", token)
    text = text.replace("@time@", str(frozen.states.index("time[0]")))
    made = compile_object(frozen.kernel_text, level).replace(TAG.encode(), frozen.tag.encode())
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, data in (
            (f"{n}.h", header(frozen, "").encode()),
            (f"{n}.c", source(frozen).encode()),
            ("fmu.c", text.encode()),
            ("kernel.o", made),
            ("exported", f"{{ global: {EXPORTED[version]} local: *; }};".encode()),
        ):
            (folder / name).write_bytes(data)
        options = ["-std=c99", "-O2", "-ffp-contract=off", "-fPIC", "-shared", "-s", "-Wl,--version-script=exported"]
        command = [compiler, *options, "fmu.c", f"{n}.c", "kernel.o", "-lm", "-o", "made.so"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            told = (done.stderr.strip().splitlines() or ["no word"])[0]
            raise ModelError(f"export: {compiler} does not build the FMU: {told}; give another by CC")
        return (folder / "made.so").read_bytes()


def _compiler() -> str:
    """A C compiler for this machine's own libraries."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise ModelError("export: FMUs are built on Linux x86-64; elsewhere take --to cpp")
    asked = os.environ.get("CC")
    found = next((path for one in ([asked] if asked else COMPILERS) if (path := shutil.which(one))), None)
    if found is None:
        what = f"CC={asked} is not there" if asked else f"there is none of {', '.join(COMPILERS)}"
        raise ModelError(f"export: an FMU is built by a C compiler, and {what}; install gcc, or name one by CC")
    return found


# model description ------------------------------------------------------------------------------------------------


def description(frozen: Frozen, variables: list[Variable], version: str, token: str, stop: float) -> str:
    """The text of modelDescription.xml."""
    write = _described_2 if version == "2.0" else _described_3
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', *write(frozen, variables, token, stop)]) + "\n"


def _units(variables: list[Variable]) -> list[str]:
    names = sorted({one.port.unit for one in variables if one.port.unit} | {"s"})
    return ["  <UnitDefinitions>", *[f"    <Unit name={quoteattr(one)}/>" for one in names], "  </UnitDefinitions>"]


def _attributes(variable: Variable, reference: int) -> str:
    return (
        f'name={quoteattr(variable.name)} valueReference="{reference}" description={quoteattr(variable.port.told)} '
        f'causality="{variable.causality}" variability="{variable.variability}"'
    )


def _value(variable: Variable) -> str:
    unit = f" unit={quoteattr(variable.port.unit)}" if variable.port.unit else ""
    return unit if variable.causality == "output" else f'{unit} start="{variable.port.start!r}"'


def _head(frozen: Frozen, version: str, token: str, name: str) -> str:
    return (
        f'<fmiModelDescription fmiVersion="{version}" modelName={quoteattr(frozen.title)} {name}="{token}" '
        f"description={quoteattr(f'a step of {frozen.dt:g} s by {frozen.method}')} "
        f'generationTool="Impulsar {__version__}" variableNamingConvention="flat"'
    )


def _experiment(frozen: Frozen, stop: float) -> str:
    return f'  <DefaultExperiment startTime="0.0" stopTime="{stop!r}" stepSize="{frozen.dt!r}"/>'


def _described_2(frozen: Frozen, variables: list[Variable], token: str, stop: float) -> Iterator[str]:
    yield _head(frozen, "2.0", token, "guid") + ' numberOfEventIndicators="0">'
    can = ("canHandleVariableCommunicationStepSize", "canGetAndSetFMUstate", "canSerializeFMUstate")
    able = " ".join(f'{one}="true"' for one in (*can, "canNotUseMemoryManagementFunctions"))
    yield f'  <CoSimulation modelIdentifier="{frozen.name}" {able}/>'
    yield from _units(variables)
    yield _experiment(frozen, stop)
    yield "  <ModelVariables>"
    for k, one in enumerate(variables, 1):
        yield f"    <ScalarVariable {_attributes(one, k)}><Real{_value(one)}/></ScalarVariable>"
    yield "  </ModelVariables>\n  <ModelStructure>"
    outputs = [f'<Unknown index="{k}"/>' for k, one in enumerate(variables, 1) if one.causality == "output"]
    yield f"    <Outputs>{''.join(outputs)}</Outputs>\n    <InitialUnknowns>{''.join(outputs)}</InitialUnknowns>"
    yield "  </ModelStructure>\n</fmiModelDescription>"


def _described_3(frozen: Frozen, variables: list[Variable], token: str, stop: float) -> Iterator[str]:
    yield _head(frozen, "3.0", token, "instantiationToken") + ">"
    can = ("canHandleVariableCommunicationStepSize", "canGetAndSetFMUState", "canSerializeFMUState")
    able = " ".join(f'{one}="true"' for one in can)
    yield f'  <CoSimulation modelIdentifier="{frozen.name}" {able}/>'
    yield from _units(variables)
    yield _experiment(frozen, stop)
    yield "  <ModelVariables>"
    yield '    <Float64 name="time" valueReference="0" causality="independent" variability="continuous" unit="s"/>'
    for k, one in enumerate(variables, 1):
        yield f"    <Float64 {_attributes(one, k)}{_value(one)}/>"
    yield "  </ModelVariables>\n  <ModelStructure>"
    outputs = [k for k, one in enumerate(variables, 1) if one.causality == "output"]
    for kind in ("Output", "InitialUnknown"):
        yield from (f'    <{kind} valueReference="{k}"/>' for k in outputs)
    yield "  </ModelStructure>\n</fmiModelDescription>"
