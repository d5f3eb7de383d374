"""Robots' files of other packages that readers are measured by: reports, freedoms, accelerations, 10 s, scene files.

    python -m impulsar_verification.import_acceptance FOLDER [NAME ...] [--keep]

A NAME "joints" stands for newton's 38 USD files of one joint each, of which reports are not kept but counted.

FOLDER holds unpacked wheels, one in each folder: gymnasium, robosuite, pybullet, example_robot_data, newton. Files that
have to be made from theirs (the Minitaur's feet closed, the xArm gripper corrected) are written beside them. --keep
writes the reports to tests/data/imports/reports instead of comparing them.
"""

import argparse
import json
import re
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import impulsar as im
from impulsar.io import model_from_json, model_to_json

from .import_oracles import against_kkt, against_mujoco, against_pinocchio

KEPT = Path(__file__).parents[2] / "tests" / "data" / "imports" / "reports"
ROBOTS = "example_robot_data/cmeel.prefix/share/example-robot-data/robots"
JOINTS = "newton/newton/tests/assets/kamino/testing/joints"
MOTOR, KNEE = np.pi / 2, -2.1834  # [rad] where pybullet's minitaur.py has the legs
WAYS = {"front_left": -1, "back_left": -1, "front_right": 1, "back_right": 1}


@dataclass
class Case:
    """A file, how it is read, what it has to be and by whom it is judged."""

    path: str
    freedoms: int
    redundant: int
    oracle: Callable[..., float]
    options: dict[str, Any] = field(default_factory=dict)
    make: Callable[[Path], Path] | None = None
    spread: float = 0.3  # of random coordinates [rad, m]
    play: float = 1e-10  # [m, rad] that the redundant rows may be open by
    impulse_step: float = 0.002  # largest impulsive sub-step of the 10 s [s]
    gravity: tuple[float, float, float] | None = None  # of the 10 s, where nothing would move by the file's [m/s²]


def close_feet(path: Path) -> Path:
    """The Minitaur with the point-to-point constraints that pybullet's code adds."""
    balls = "".join(
        f'<constraint name="foot {leg}" type="ball"><parent link="lower_leg_{leg}R_link"/>'
        f'<parent_origin xyz="0 0.005 0.2"/><child link="lower_leg_{leg}L_link"/><child_origin xyz="0 0.01 0.2"/>'
        "</constraint>\n"
        for leg in WAYS
    )
    made = path.with_name("minitaur_closed.urdf")
    made.write_text(path.read_text().replace("</robot>", balls + "</robot>"))
    return made


def correct(path: Path) -> Path:
    """The xArm gripper without the attribute that MuJoCo refuses."""
    made = path.with_name("xarm7_gripper_corrected.xml")
    made.write_text(path.read_text().replace('<default class="xarm7_hand" group="1">', '<default class="xarm7_hand">'))
    return made


def legs() -> dict[str, float]:
    """Where the Minitaur's legs are."""
    return {
        f"{part}_{leg}{side}_{kind}": way * angle
        for leg, way in WAYS.items()
        for side in "LR"
        for part, kind, angle in (("motor", "joint", MOTOR), ("knee", "link", KNEE))
    }


CASES = {
    "half_cheetah": Case("gymnasium/gymnasium/envs/mujoco/assets/half_cheetah.xml", 9, 0, against_mujoco),
    "humanoid": Case("gymnasium/gymnasium/envs/mujoco/assets/humanoid.xml", 23, 0, against_mujoco),
    "xarm7_gripper": Case(
        "robosuite/robosuite/models/assets/grippers/xarm7_gripper.xml", 1, 2, against_kkt, {"base": "fixed"}, correct,
        0.05, gravity=(6.0, 4.0, -6.0),
    ),
    "minitaur": Case(
        "pybullet/pybullet_data/quadruped/minitaur.urdf", 8, 4, against_kkt, {"snap": 1e-4, "pose": legs()}, close_feet,
        0.05,
    ),
    "cassie_v2": Case(f"{ROBOTS}/cassie_description/robots/cassie_v2.sdf", 12, 2, against_kkt, {"base": "fixed"}, None,
                      0.02, 1e-9),  # what two rows that others imply are open by
    "talos_full_v2": Case(f"{ROBOTS}/talos_data/robots/talos_full_v2.urdf", 32, 0, against_pinocchio),
    "icub": Case(f"{ROBOTS}/icub_description/robots/icub.urdf", 32, 0, against_pinocchio,
                 impulse_step=5e-4),  # its neck has a direction without inertia, held by dampers
    "boxes_nunchaku": Case(
        "newton/newton/tests/assets/kamino/basics/boxes_nunchaku.usda", 6, 0, against_kkt, {"base": "fixed"}
    ),
}  # fmt: skip


def report_text(model: im.Model) -> str:
    """A report without names of this machine."""
    return f"{model.import_report}\n"


def look(name: str, folder: Path, keep: bool) -> dict[str, Any]:
    """The figures of one file."""
    case = CASES[name]
    path = folder / case.path
    found: dict[str, Any] = {}
    if case.make is not None:
        if name == "xarm7_gripper":
            try:
                im.load(path)
                found["refused"] = "no"
            except im.ModelError as error:
                found["refused"] = ", ".join(re.findall(r"line \d+", str(error))[:1])
        path = case.make(path)
    model = im.load(path, meshes=False, **case.options)
    kept = KEPT / f"{name}.txt"
    if keep:
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(report_text(model))
    found["report"] = kept.is_file() and kept.read_text() == report_text(model)
    mobility = im.analysis.mobility(model)
    found["freedoms"] = (mobility.freedoms, mobility.redundant)
    found["expected"] = found["freedoms"] == (case.freedoms, case.redundant)
    more = {"spread": case.spread} if case.oracle is against_kkt else {}
    found["accelerations"] = max(case.oracle(path, seed, **more, **case.options) for seed in range(3))
    text = json.dumps(model_to_json(model))
    found["same bits"] = json.dumps(model_to_json(model_from_json(json.loads(text)))) == text
    if case.gravity is not None:
        model.gravity = np.array(case.gravity)
    return found | ten_seconds(model, impulse_step=case.impulse_step)


def ten_seconds(model: im.Model, dt: float = 0.01, impulse_step: float = 0.002, rtol: float = 1e-7) -> dict[str, Any]:
    """The worst of books, in parts of the largest energy, and of constraint errors over 10 s."""
    world = im.World(model, dt=dt, method=im.Direct(rtol=rtol, atol=rtol, impulse_step=impulse_step))
    most, off, error = 1e-300, 0.0, 0.0
    for k in range(200):
        try:
            world.step(round(0.05 / dt))
        except (im.ModelError, im.StepError) as stop:
            return {"broke": f"{0.05 * k:g} s: {stop!s:.200}", "books": off / most, "constraint": error}
        energy = world.energy()
        most = max(
            most, abs(float(energy.kinetic)), abs(float(energy.potential - energy.start)), abs(float(energy.start))
        )
        off, error = max(off, abs(float(energy.imbalance))), max(error, float(world.constraint_error()))
    return {"books": off / most, "constraint": error, "energy": most}


def joints(folder: Path) -> int:
    """Newton's files of one joint each; returns how many fall short."""
    short = 0
    for path in sorted((folder / JOINTS).glob("*.usda")):
        model = im.load(path, meshes=False)
        assert model.import_report is not None
        found: dict[str, Any] = {"report": model.import_report.counts()}
        if model.joints:
            found["accelerations"] = max(against_kkt(path, seed) for seed in range(3))
        text = json.dumps(model_to_json(model))
        found["same bits"] = json.dumps(model_to_json(model_from_json(json.loads(text)))) == text
        found |= ten_seconds(model, rtol=1e-9)  # one ball swings with 0.05 J: 1.7e-6 of it at 1e-7
        good = found["same bits"] and found.get("accelerations", 0.0) <= 1e-9 and "broke" not in found
        good = good and found["books"] <= 1e-6 and found["constraint"] <= 1e-10
        short += not good
        print(f"{'holds' if good else 'SHORT'} {path.stem}: {found}", flush=True)
    return short


def main() -> int:
    """Print the figures of all files, or of some."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", default=[*CASES, "joints"])
    parser.add_argument("--keep", action="store_true")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    short = 0
    for name in args.names:
        if name == "joints":
            short += joints(args.folder)
            continue
        found = look(name, args.folder, args.keep)
        exact = found["report"] and found["expected"] and found["same bits"] and "broke" not in found
        small = found["accelerations"] <= 1e-9 and found["books"] <= 1e-6 and found["constraint"] <= CASES[name].play
        good = exact and small
        short += not good
        print(f"{'holds' if good else 'SHORT'} {name}: {found}", flush=True)
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
