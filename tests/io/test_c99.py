"""A mechanism's step as C: the engine's own steps, the bits of its compiled code, and nothing silently wrong."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import impulsar as im
from impulsar.author.errors import ModelError
from impulsar.author.touching import touching_pairs
from impulsar.cli import main
from impulsar.engine.compile.paths import Follower
from impulsar.io.c99 import Program, files, identifier, to_c99
from impulsar.scenes import OWN

STRICT = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off")
COMPILERS = [one for one in ("gcc", "clang") if shutil.which(one)]
STEPS = 200
pytestmark = pytest.mark.skipif(not COMPILERS, reason="no C compiler")


class Built:
    """A program as a library, one mechanism of it."""

    def __init__(self, program: Program, folder, compiler: str = COMPILERS[0] if COMPILERS else "", level: str = "-O1"):
        for name, text in files(program).items():
            (folder / name).write_text(text)
        self.source, library = folder / f"{program.name}.c", folder / f"{program.name}-{compiler}.so"
        command = [compiler, *STRICT, level, "-shared", "-fPIC", str(self.source), "-o", str(library), "-lm"]
        subprocess.run(command, check=True)
        self.program, self.library = program, ctypes.CDLL(str(library))
        self.x, self.inputs = np.zeros(len(program.rows)), np.zeros(max(1, len(program.inputs)))
        self.outputs = np.zeros(max(1, len(program.coordinates) + 7 * len(program.bodies)))
        self.call("start", self.x, self.inputs)

    def call(self, what: str, *arrays: np.ndarray) -> int:
        return getattr(self.library, f"{self.program.name}_{what}")(
            *[one.ctypes.data_as(ctypes.c_void_p) for one in arrays]
        )

    def step(self) -> int:
        return self.call("step", self.x, self.inputs)

    def read(self) -> tuple[np.ndarray, np.ndarray]:
        """Joint coordinates, and poses of bodies."""
        assert self.call("read", self.x, self.outputs) == 0
        n = len(self.program.coordinates)
        return self.outputs[:n], self.outputs[n : n + 7 * len(self.program.bodies)].reshape(-1, 7)


def world_of(name: str, method: object = "direct", dt: float = 1e-3, **parameters) -> im.World:
    fixed = {"substeps": 1} if method == "direct" else {}
    return im.World(im.scene(name, **parameters), method=method, dt=dt, **fixed)


def beside(world: im.World, built: Built, steps: int) -> None:
    """Steps in C beside the engine's compiled ones, to the bit, and beside the kernel's."""
    runner, rows = world.runner, built.program.rows
    start = runner.state.numpy().copy()
    follower = Follower(runner.system, runner.state)
    for way in built.program.followed.ways:
        follower.add(way)
    for _ in range(steps):
        assert built.step() == 0
        assert follower.go(1) == 1
        assert built.x.tolist() == runner.state.numpy()[rows, 0].tolist()
    runner.state.numpy()[...] = start
    runner.refresh()
    world.step(steps)
    kernel = runner.state.numpy()[rows, 0]
    assert np.abs(built.x - kernel).max() <= 1e-12 * max(1.0, np.abs(kernel).max())
    q, poses = built.read()
    assert q == pytest.approx(runner.readout.freedoms()[0][:, 0], abs=1e-12)
    for pose, name in zip(poses, built.program.bodies, strict=True):
        assert pose[:3] == pytest.approx(world.body(name).position, abs=1e-12)
        assert pose[3:] == pytest.approx(world.body(name).orientation, abs=1e-12)


@pytest.mark.parametrize("name", ["four-bar", "quarter-car"])
def test_c_takes_the_engines_steps(name, tmp_path) -> None:
    world = world_of(name)
    beside(world, Built(to_c99(world, STEPS), tmp_path), STEPS)


def test_c_of_a_coupling_of_several_joints(tmp_path) -> None:
    model = im.Model("summed")
    for k in range(3):
        model.body(f"bar {k}", mass=1.0, inertia=(0.01, 0.02, 0.02), position=(k + 0.5, 0, 0))
        model.joint(f"pin {k}", "revolute", f"bar {k - 1}" if k else "ground", f"bar {k}", at=(k, 0, 0), axis=(0, 1, 0))
    model.coupling("level", {"pin 0": 1.0, "pin 1": 1.1, "pin 2": 0.8})
    world = im.World(model, dt=1e-3, substeps=1)
    beside(world, Built(to_c99(world, STEPS), tmp_path), STEPS)


SMOOTH = [name for name in OWN if not touching_pairs(im.scene(name)) and name != "minibaja"]  # 68,000 operations
MAIN = """#include <stdio.h>
#include "{0}.h"
int main(void) {{
  {0}_state state; {0}_inputs inputs; {0}_outputs outputs;
  double x[{1}_STATES];
  int told = 0;
  {0}_start(&state, &inputs);
  for (int k = 0; k < {2} && !told; ++k) told = {0}_step(&state, &inputs) || {0}_read(&state, &outputs);
  {0}_get(&state, x);
  told = told || {0}_set(&state, x);
  for (int k = 0; k < {1}_STATES; ++k) printf("%a %s\\n", x[k], {0}_state_name(k));
  return told;
}}
"""


@pytest.mark.study
@pytest.mark.parametrize("name", SMOOTH)
def test_c_of_every_scene_without_contact(name, tmp_path) -> None:
    """The same, with every compiler that is there; and a program of it is clean under valgrind and sanitizers."""
    model = im.scene(name)
    steps = min(STEPS, int((model.horizon or 1.0) / 1e-3))
    world = world_of(name)
    start, program = world.runner.state.numpy().copy(), to_c99(world, steps)
    assert program.followed.steps == steps
    for compiler in COMPILERS:
        world.runner.state.numpy()[...] = start
        world.runner.refresh()
        built = Built(program, tmp_path, compiler)
        beside(world, built, steps)
    main_c = tmp_path / "main.c"
    main_c.write_text(MAIN.format(program.name, program.name.upper(), steps))
    asked = {"plain": (), "clean": ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")}
    told = {}
    for kind, flags in asked.items():
        command = [
            COMPILERS[0],
            *STRICT,
            *flags,
            "-g",
            str(main_c),
            str(built.source),
            "-o",
            str(tmp_path / kind),
            "-lm",
        ]
        subprocess.run(command, check=True)
        told[kind] = subprocess.run([str(tmp_path / kind)], check=True, capture_output=True, text=True).stdout
    assert told["plain"] == told["clean"]
    assert [float.fromhex(line.split()[0]) for line in told["plain"].splitlines()] == built.x.tolist()
    if shutil.which("valgrind"):
        command = [
            "valgrind",
            "-q",
            "--error-exitcode=9",
            "--leak-check=full",
            "--track-origins=no",
            str(tmp_path / "plain"),
        ]
        subprocess.run(command, check=True, capture_output=True)


def test_a_way_that_was_not_traced_is_not_taken(tmp_path) -> None:
    """One way of the four that four-bar goes: it stops where the engine's would go another, state and all."""
    world = world_of("four-bar")
    all_ways, one = to_c99(world, STEPS), to_c99(world, STEPS, most=1)
    assert len(all_ways.followed.ways) > 1 and one.followed.ended and "#define FOUR_BAR_OPERATIONS" in one.header
    built = Built(one, tmp_path)
    told = [built.step() for _ in range(one.followed.steps)]
    assert not any(told)
    kept = built.x.copy()
    assert built.step() == 1 and (built.x == kept).all()


def test_what_is_no_number_is_told(tmp_path) -> None:
    built = Built(to_c99(world_of("chain", n=2), 3), tmp_path)
    kept = built.x.copy()
    assert built.call("set", built.x, np.full(len(built.x), np.inf)) == 2 and (built.x == kept).all()
    built.x[0] = np.nan
    assert built.step() in (1, 2) and np.isnan(built.x[0]) and (built.x[1:] == kept[1:]).all()


def test_inputs_are_motors_and_loads_by_name(tmp_path) -> None:
    """A force on a block on rails and a motor's torque on a wheel: accelerations F / m and T / I."""
    model = im.Model("two things")
    block = model.body("block", mass=2.0, inertia=(1, 1, 1), position=(0, 0, 0))
    model.joint("rail", "prismatic", model.ground, block, at=(0, 0, 0), axis=(1, 0, 0))
    wheel = model.body("wheel", mass=1.0, inertia=(0.5, 0.5, 0.5), position=(1, 0, 0))
    model.joint("2nd axle", "revolute", model.ground, wheel, at=(1, 0, 0), axis=(0, 0, 1), motor=im.Motor(torque=0.0))
    model.load("push", block, force=(1.0, 0.0, 0.0))
    program = to_c99(im.World(model, dt=1e-3, substeps=1), 5)
    built = Built(program, tmp_path)
    torque, force = (program.inputs.index(name) for name in ("motor_2nd_axle", "load_push_force_x"))
    assert built.inputs[[torque, force]].tolist() == [0.0, 1.0]
    built.inputs[[torque, force]] = 3.0, 4.0
    assert not any(built.step() for _ in range(100))
    (slid, turned), _ = built.read()
    way = 1e-3**2 * 100 * 101 / 2  # of a unit of acceleration: velocities first, then positions
    assert slid == pytest.approx(4.0 / 2.0 * way, rel=1e-9) and turned == pytest.approx(3.0 / 0.5 * way, rel=1e-9)
    assert program.coordinates == ["rail", "2nd axle"] and "n2nd_axle; /* 2nd axle [rad] */" in program.header


def test_names_in_c_are_names() -> None:
    taken: set[str] = set()
    assert [identifier(one, taken) for one in ("for", "Arm 1", "arm-1", "2x", "µ")] == [
        "for_",
        "arm_1",
        "arm_1_2",
        "n2x",
        "part",
    ]


def test_names_of_parts_break_no_text(tmp_path) -> None:
    """Ends of comments, words of C++, macros, a header of the library: files are clean, and C++ takes the header."""
    model = im.Model("string")
    for k, (bar, pin) in enumerate([("*/ x", "class"), ("\\*", "linux"), ("/*", "what??/"), ("\u202eab", "Größe")]):
        bar = model.body(bar, mass=1.0, inertia=(0.01, 0.02, 0.02), position=(k + 0.5, 0, 0))
        at = list(model.bodies)[k - 1] if k else "ground"
        model.joint(pin, "revolute", at, bar, at=(k, 0, 0), axis=(0, 1, 0))
    built = Built(to_c99(im.World(model, dt=1e-3, substeps=1), 3), tmp_path)
    assert built.program.name == "string_"
    asked = ["-I", str(tmp_path), "-fsyntax-only", "-Wall", "-Werror"]
    subprocess.run([COMPILERS[0], *asked, "-std=gnu99", str(built.source)], check=True)
    subprocess.run([COMPILERS[0], *asked, "-x", "c++", str(built.source.with_suffix(".h"))], check=True)


def test_the_command_writes_two_files(tmp_path, capsys) -> None:
    out = tmp_path / "made"
    assert main(["export", "chain", "--set", "n=2", "--to", "c99", "--duration", "0.05", "--out", str(out)]) == 0
    assert sorted(one.name for one in out.iterdir()) == ["chain.c", "chain.h"]
    told = capsys.readouterr().out
    assert "ways through it cover all 50 steps" in told
    assert main(["export", "chain", "--to", "c99"]) == 2


def test_what_c_does_not_have_is_refused() -> None:
    held = im.World(im.scene("five-bar"), dt=1e-3, substeps=1)
    held.attach("hold", lambda t, y: -y, rate=100.0, reads=("left motor.position",), writes=("left motor.position",))
    with pytest.raises(ModelError, match="has controllers, which C has not"):
        to_c99(held, 3)
    with pytest.raises(ModelError, match="has sensors that divide its steps, which C has not"):
        to_c99(im.World(im.scene("gps-drive"), dt=7e-4, substeps=1), 3)
    with pytest.raises(ModelError, match="has a script, which C has not"):
        to_c99(im.World(im.scene("ten-pendula", hand=True), substeps=1), 3)
    with pytest.raises(ModelError, match="batch of 2 has no step of its own"):
        to_c99(im.World(im.scene("chain", n=2), worlds=2), 3)
    with pytest.raises(ModelError, match="contacts is not compiled"):
        to_c99(im.World(im.scene("chain", n=2, floor=True)), 3)
