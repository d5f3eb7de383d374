"""`impulsar analyse`: an analysis of a scene as a table, or as JSON."""

import argparse
import ast
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from ..author.errors import ModelError
from ..author.model import Model
from ..author.profiles import Harmonic, Ramp, Smooth, Table
from .inverse import Torques, inverse

PROFILES = {"Harmonic": Harmonic, "Ramp": Ramp, "Smooth": Smooth, "Table": Table}


def command(args: argparse.Namespace, scene: Callable[[], Model]) -> int:
    """Print what an analysis found."""
    from .. import analysis

    options = (("motors", "mobility"), ("time", "statics modes"), ("duration every", "inverse clearance"))
    for option, kinds in (*options, ("motion", "inverse")):
        for name in option.split():
            if getattr(args, name) not in (None, False, []) and args.kind not in kinds.split():
                raise ModelError(f"--{name}: is for {' and '.join(kinds.split())}, not for {args.kind}; remove it")
    model = scene()
    found: Any
    if args.kind == "inverse":
        found = _inverse(model, args)
    elif args.kind == "clearance":
        found = analysis.clearance(model, _duration(model, args), args.every)
    elif args.kind == "mobility":
        found = analysis.mobility(model, with_motors=args.motors)
    elif args.kind == "assemble":
        found = analysis.assemble(model)
    else:
        found = getattr(analysis, args.kind)(model, time=args.time)
    print(json.dumps(found.data()) if args.json else found)
    return 0


def _duration(model: Model, args: argparse.Namespace) -> float:
    duration = args.duration or model.duration
    if duration is None:
        raise ModelError(f"scene '{args.scene}': states no duration; give --duration")
    return duration


def _inverse(model: Model, args: argparse.Namespace) -> Torques:
    """Torques of the motions given, or of the scene's own position motors, over its duration."""
    motions = dict(_motion(text) for text in args.motion)
    features = [each for joint in model.joints.values() for each in joint.features.values()]
    if not motions and not any(each.motor is not None and each.motor.position is not None for each in features):
        free = next((joint.name for joint in model.joints.values() if joint.features), "JOINT")
        raise ModelError(
            f"scene '{args.scene}': no joint is driven; say how one moves, as in --motion '{free}=1' [rad/s, m/s]"
        )
    duration = _duration(model, args)
    every = args.every or duration / 20
    times = every * np.arange(int(duration / every * (1 + 1e-9)) + 1)
    return Torques(inverse(model, motions or None, times=times))


def _motion(text: str) -> tuple[str, Any]:
    """A joint and what it is to do: JOINT=SPEED, or JOINT=Harmonic(0.3, 2)."""
    joint, _, told = text.partition("=")
    wanted = f"--motion {text!r}: expected JOINT=SPEED, or JOINT=PROFILE(numbers) of {', '.join(PROFILES)}"
    try:
        node = ast.parse(told.strip(), mode="eval").body
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in PROFILES:
            given = [ast.literal_eval(each) for each in node.args]
            named = {each.arg: ast.literal_eval(each.value) for each in node.keywords if each.arg}
            return joint, PROFILES[node.func.id](*given, **named)
        speed = float(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError) as error:
        raise ModelError(f"{wanted} ({error})" if "expected" in str(error) else wanted) from error
    return joint, lambda t: (speed * t, speed, 0.0)
