"""Fuzzing of scene files, edits and journals: whatever comes, it is taken or refused by a typed error.

Hypothesis makes the cases; atheris, where it is installed, makes more of them by looking at the branches
that are taken, in a process of its own:

    python -m impulsar_verification.fuzz RUNS FOLDER
"""

import copy
import importlib.util
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from impulsar.author.errors import ModelError
from impulsar.author.model import Model
from impulsar.author.parts import PARTS, Motor
from impulsar.author.profiles import Harmonic, Smooth, Table
from impulsar.author.shapes import Box, Cone, ConvexHull, HeightField, Mesh, Plane
from impulsar.edits import Edit, EditError
from impulsar.io import edit_from_json, model_from_json, model_to_json
from impulsar.io.scene_files import parse
from impulsar.scenes import scene
from impulsar.world.world import World

from .sessions import pendula

BUILT_EVERY = 50  # of the models that are accepted one is built into a world
NAMES = ("link1", "link2", "link3", "hinge1", "hinge2", "spring", "ground", "hand", "wind", "")
WORDS: tuple[str, ...] = (
    *("revolute", "spherical", "fixed", "world", "body", "joint", "load", "probe", "coupling", "link1.mass", "angle"),
    *("material", "material_pair", "obstacle", "no_contact", "steel", "steel.friction", "link1.material"),
    *("authored", "direct", "simgc", "inf", "spring.stiffness", "model.gravity", "position"),
)


def everything() -> Model:
    """A model with every kind of part, feature, shape and profile."""
    model = pendula()
    corners = [(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)]
    shapes = [Box((0.1, 0.1, 0.1)), ConvexHull(corners), Cone(0.05, 0.1, offset=(0, 0, 0.1))]
    stone = model.body("stone", position=(0, 0, 1), shape=shapes, density=2000.0)
    motor = Motor(speed=Smooth(0.0, 1.0, 0.0, 2.0), max_torque=3.0)
    limits = {"slide": (-0.1, 0.1), "angle": None}
    model.joint("guide", "cylindrical", model.ground, stone, at=(0, 0, 1), axis=(0, 0, 1), limits=limits)
    model.joints["guide"].features["angle"].motor = motor
    model.coupling("gear", "hinge1", "hinge2", ratio=-2.0)
    model.load("push", stone, force=(Harmonic(1.0, 3.0), 0.0, Table((0.0, 1.0), (0.0, 2.0))), frame="body")
    model.probe("tip", "link3", at=(0.15, 0, 0))
    model.material("felt", friction=0.4, static=0.6)
    model.material_pair("felt", "steel", restitution=0.1)
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    model.obstacle("rock", Mesh(corners, faces, offset=(0, 0, -2)), material="concrete")
    model.obstacle("hill", HeightField([(0.0, 0.1, 0.3), (0.2, 1 / 3, 0.1)], (4.0, 2.0)), position=(0, 9, -3))
    model.obstacle("plane", Plane(offset=(0, 0, -4), material="ice"))
    model.obstacle("floor", Box((9.0, 9.0, 1.0), material="felt"), position=(0, 0, -3), material="wood")
    model.no_contact("stone", "floor")
    model.at(1.0, edit_from_json({"edit": "Grab", "hand": "hand", "body": "link3"}))
    return model


def _strategies() -> Any:
    """Hypothesis's strategies: junk, mutated documents, edits."""
    from hypothesis import strategies as st

    numbers = st.one_of(
        st.integers(-3, 5), st.floats(), st.sampled_from((1e308, -1e308, 5e-324, -0.0, 1e50, 10**400, 2**63))
    )
    words = st.one_of(st.sampled_from((*NAMES, *WORDS)), st.text(max_size=8))
    leaves = st.one_of(st.none(), st.booleans(), numbers, words)
    vectors = st.lists(st.one_of(st.floats(-2, 2), numbers), min_size=2, max_size=4)
    profiles = st.fixed_dictionaries(
        {"profile": st.sampled_from(("ramp", "harmonic", "table", "recorded", "x"))},
        optional={
            key: st.one_of(leaves, vectors) for key in ("start", "end", "t0", "t1", "amplitude", "omega", "times")
        },
    )
    motors = st.fixed_dictionaries({"motor": st.sampled_from(("speed", "torque", "x"))}, optional={"value": leaves})
    junk = st.recursive(
        st.one_of(leaves, vectors, profiles, motors),
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(words, inner, max_size=4)),
        max_leaves=8,
    )
    places = st.lists(st.integers(0, 50), max_size=7)
    changes = st.lists(st.tuples(st.sampled_from(("put", "drop", "rename", "twice")), places, junk), max_size=4)
    return st, junk, words, changes


def mutate(document: Any, changes: list[tuple[str, list[int], Any]]) -> Any:
    """A document with some of its values replaced, dropped, renamed or doubled."""
    document = copy.deepcopy(document)
    for action, place, value in changes:
        node: Any = [document]
        key: Any = 0
        for k in place:
            inside = node[key]
            if not isinstance(inside, dict | list) or not inside:
                break
            node, key = inside, list(inside)[k % len(inside)] if isinstance(inside, dict) else k % len(inside)
        if action == "drop" and node[key] is not document:
            del node[key]
        elif action == "rename" and isinstance(node, dict):
            node[str(value)[:20]] = node.pop(key)
        elif action == "twice" and isinstance(node, list) and node[key] is not document:
            node.append(copy.deepcopy(node[key]))
        elif node[key] is document:
            document = value
        else:
            node[key] = value
    return document


def fuzz(runs: int, cases: Any, check: Callable[..., None]) -> None:
    """Call `check` on so many cases, the same ones each time; an exception of it is raised, made small."""
    from hypothesis import HealthCheck, Phase, given, settings

    quiet = settings(
        max_examples=runs,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    quiet(given(cases)(check))()


def fuzz_scenes(runs: int) -> int:
    """Scene files with changed values and changed bytes; how many of them were accepted."""
    st, _, _, changes = _strategies()
    documents = [model_to_json(model) for model in (everything(), scene("four-bar"), scene("ten-pendula", hand=True))]
    accepted = [0]

    def check(case: Any) -> None:
        which, change, cuts = case
        data = json.dumps(mutate(documents[which], change)).encode()
        for at, count, new in cuts:
            at %= len(data) + 1
            data = data[:at] + new + data[at + count :]
        try:
            model = model_from_json(parse(data))
            accepted[0] += 1
            model_to_json(model)
            if accepted[0] % BUILT_EVERY == 0:
                World(model)
        except ModelError as error:
            assert str(error)

    cuts = st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 4), st.binary(max_size=4)), max_size=2)
    fuzz(runs, st.tuples(st.integers(0, len(documents) - 1), changes, st.one_of(st.just([]), cuts)), check)
    return accepted[0]


def fuzz_edits(runs: int) -> int:
    """Edits from changed objects, applied to a moving world: accepted, or refused with the world as it was."""
    st, junk, words, _ = _strategies()
    world = World(pendula(), dt=0.002)
    world.step(50)
    start, before = world.snapshot(), world.hash()
    accepted = [0]
    points = st.lists(st.floats(-1, 1), min_size=3, max_size=3)
    sizes = st.floats(0, 10)
    options = {"type": st.sampled_from(WORDS[:3]), "first": st.sampled_from(NAMES), "second": st.sampled_from(NAMES)}
    options |= dict.fromkeys(("at", "axis", "at_a", "at_b", "position"), points)
    options |= dict.fromkeys(("friction", "stiffness", "mass", "damping"), sizes) | {"body": st.sampled_from(NAMES)}
    options |= {"inertia": st.just([1.0, 1.0, 1.0])}
    likely = dict.fromkeys(("hand", "body", "joint", "name"), st.sampled_from(NAMES))
    likely |= dict.fromkeys(("at", "target", "force", "torque"), points)
    likely |= dict.fromkeys(("stiffness", "damping", "value", "dt"), sizes) | {"paused": st.booleans()}
    likely |= {"kind": st.sampled_from(tuple(PARTS)), "motor": st.none(), "part": st.sampled_from(NAMES)}
    likely |= {"material": st.sampled_from(("steel", "felt", None)), "shape": st.sampled_from((None, 0, 1))}
    options |= {"a": st.sampled_from((*NAMES, "steel")), "b": st.sampled_from((*NAMES, "ice"))}
    options |= {"static": sizes, "material": st.sampled_from(("steel", "felt"))}
    options |= {"shape": st.just({"shape": "sphere", "radius": 1.0})}
    paths = ("link1.mass", "spring.stiffness", "hinge1.viscous", "model.gravity", "steel.friction")
    likely |= {"path": st.sampled_from(paths)}
    likely |= {"method": st.sampled_from(("direct", "x")), "frames": st.sampled_from(("present", "authored"))}
    likely |= dict.fromkeys(("changes", "options"), st.fixed_dictionaries({}, optional=options))
    likely |= {"bodies": st.dictionaries(st.sampled_from(NAMES), st.fixed_dictionaries({}, optional=options))}
    junk_or_not = {name: st.one_of(*[strategy] * 5, words, junk) for name, strategy in likely.items()}
    fields = {cls.__name__: list(cls.__dataclass_fields__) for cls in Edit.__subclasses__()}

    def check(data: Any) -> None:
        try:
            edit = edit_from_json(parse(json.dumps(data).encode()))
            world.apply(edit)
        except ModelError as error:
            assert str(error)
            if isinstance(error, EditError):
                assert world.hash() == before, f"{data}: refused, but the world is another"
            return
        accepted[0] += 1
        world.restore(start)
        assert world.hash() == before, f"{data}: not undone by its snapshot"

    def one(name: str) -> Any:
        values = {entry: junk_or_not.get(entry, junk) for entry in fields[name]}
        plain = {entry: likely.get(entry, junk) for entry in fields[name]}
        return st.one_of(
            st.fixed_dictionaries({"edit": st.just(name), **plain}),
            st.fixed_dictionaries({"edit": st.just(name), **values}),
            st.fixed_dictionaries({"edit": st.just(name)}, optional=values),
        )

    fuzz(runs, st.sampled_from(sorted(fields)).flatmap(one), check)
    return accepted[0]


def fuzz_bytes(data: bytes) -> None:
    """One case of atheris: bytes as a scene file and as an edit."""
    for read in (model_from_json, edit_from_json):
        try:
            read(parse(data))
        except ModelError as error:
            assert str(error)


def fuzz_by_atheris(runs: int) -> int | None:
    """Runs of atheris in a process of its own, from valid scenes; None where it is not installed."""
    if importlib.util.find_spec("atheris") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        for k, model in enumerate((everything(), scene("four-bar"))):
            (Path(folder) / f"{k}.json").write_text(json.dumps(model_to_json(model)), encoding="utf-8")
        command = [sys.executable, "-m", "impulsar_verification.fuzz", str(runs), folder]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"atheris found a case: {done.stderr[-2000:]}")
    return runs


def main(runs: str, folder: str) -> None:
    """Fuzz by atheris, from the files in a folder, which it adds to."""
    import atheris

    atheris.instrument_all()
    atheris.Setup([sys.argv[0], f"-runs={runs}", "-max_len=8000", "-verbosity=0", folder], fuzz_bytes)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
