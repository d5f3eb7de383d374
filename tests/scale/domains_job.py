"""What the tests of domains run under mpiexec: each check on the first 1, 2, ... ranks; rank 0 prints figures."""

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from mpi4py import MPI
from scipy.spatial import cKDTree

import impulsar as im
from impulsar.scale.domains import DomainWorld
from impulsar.scale.large import LargeWorld, boxes, chain, conveyor, hopper, net, settling, spheres, tree


def loops() -> im.Model:
    """Three four-bars one after the other, the rocker of each on the crank of the next; one more pin than needed."""
    model = im.Model("loops")
    before, rng = None, np.random.default_rng(3)
    for k in range(3):
        x = 0.4 * k
        made = {}
        for name, start, end in (
            ("crank", (0, 0), (0.05, 0.1)),
            ("coupler", (0.05, 0.1), (0.3, 0.15)),
            ("rocker", (0.3, 0.15), (0.25, 0)),
        ):
            middle = ((start[0] + end[0]) / 2 + x, 0.0, (start[1] + end[1]) / 2)
            made[name] = model.body(f"{name}{k}", mass=rng.uniform(0.5, 2), inertia=(2e-3, 2e-3, 1e-3), position=middle)
        pins = {"O": (0, 0), "A": (0.05, 0.1), "B": (0.3, 0.15), "C": (0.25, 0)}
        ends = {
            "O": ("ground", "crank"),
            "A": ("crank", "coupler"),
            "B": ("coupler", "rocker"),
            "C": ("rocker", "ground"),
        }
        for name, (first, second) in ends.items():
            at = (pins[name][0] + x, 0.0, pins[name][1])
            pair = (made.get(first, model.ground), made.get(second, model.ground))
            model.joint(f"{name}{k}", "revolute", *pair, at=at, axis=(0, 1, 0))
        if before is not None:
            model.joint(f"rod{k}", "distance", before, made["crank"], at=(x - 0.1, 0, 0.15), at_b=(x + 0.05, 0, 0.1))
        before = made["rocker"]
    return model


def wet() -> im.Model:
    """Six rods with balls, hinged one to the next, half under water."""
    model = im.Model("wet")
    before = model.ground
    for k in range(6):
        body = model.body(
            f"rod{k}", mass=0.3, inertia=(1e-4, 2e-4, 2e-4), position=(0.1 * k + 0.05, 0, 0), shape=im.Sphere(0.04)
        )
        model.joint(f"pin{k}", "revolute", before, body, at=(0.1 * k, 0, 0), axis=(0.1 * k, 1, 0))
        before = body
    model.fluid("water", surface=0.01)
    return model


def acting(wet: bool) -> im.Model:
    """An arm of 12 bodies with what may act in its joints, springs along and across it, and a load; with balls half
    under water, whose added mass answers as well."""
    model, rng = im.Model("acting"), np.random.default_rng(3)
    turn = im.Harmonic(amplitude=2.0, omega=20.0)
    given = {
        0: {"friction": 0.05},
        1: {"limits": (-0.15, 0.1), "limit_restitution": 0.3},
        3: {"limits": (-0.01, 0.01), "friction": 0.5},
        6: {"motor": im.Motor(speed=turn, max_torque=3.0)},
        7: {"motor": im.Motor(position=0.3, max_torque=2.0), "limits": (-0.002, 0.2)},
        10: {"motor": im.Motor(torque=0.7), "friction": 0.1},
    }
    before, made = model.ground, []
    for k in range(12):
        body = model.body(
            f"rod{k}",
            mass=rng.uniform(0.3, 1.0),
            inertia=(1e-3, 2e-3, 2e-3),
            position=(0.1 * k + 0.05, 0, 0),
            shape=im.Sphere(0.04) if wet else None,
        )
        kind, axis = ("prismatic", (1, 0, 0)) if k % 6 == 3 else ("revolute", (0.2 * (k % 2), 1, 0.1))
        model.joint(f"joint{k}", kind, before, body, at=(0.1 * k, 0, 0), axis=axis, **given.get(k, {}))
        before = body
        made.append(body)
    for k, (one, two, length) in enumerate(((1, 8, 0.5), (4, 5, 0.1))):
        ends = {"at_a": (0.1 * one + 0.05, 0, 0), "at_b": (0.1 * two + 0.05, 0, 0.05)}
        model.spring(f"spring{k}", made[one], made[two], **ends, stiffness=800.0, damping=3.0, free_length=length)
    model.spring("tie", model.ground, made[11], at_a=(1.3, 0, 0.5), at_b=(1.15, 0, 0), stiffness=400.0, free_length=0.2)
    model.load("push", made[6], force=(1, 2, 3), torque=(0, 0.1, 0), at=(0.65, 0, 0), frame="body")
    if wet:
        model.fluid("water", surface=0.0)
    return model


def doubled(n):
    """A net whose rods are all there twice: half of its rows are implied by the others."""
    bulk = net(n)
    for name in ("joint_kind", "first", "second", "p_PF", "q_PF", "p_CM", "q_CM", "length"):
        setattr(bulk, name, np.concatenate([getattr(bulk, name)] * 2))
    bulk.twist[:, :3] = np.random.default_rng(5).normal(size=(bulk.bodies, 3))
    return bulk


def beside_one_rank(comm, build, steps, **options):
    """Largest differences to a LargeWorld, and between the two momenta."""
    world = DomainWorld(build(), comm=comm, **options)
    report = world.step(steps)
    state, momentum, energy = world.gather(), world.momentum(), world.energy()
    if state is None:
        return None
    one = LargeWorld(build(), **options)
    one.step(steps)
    books = one.energy()
    return {
        "books": max(abs(energy[name] - books[name]) for name in books),
        "apart": max(float(np.abs(state[name] - getattr(one, name)).max()) for name in state),
        "momentum": float(np.abs(momentum - one.momentum()).max()),
        "energy": abs(energy["kinetic"] - one.energy()["kinetic"]) / one.energy()["kinetic"],
        "gap": report.position_error,
        "residual": report.residual,
        "moved": float(np.abs(state["positions"] - one.bench.bulk.position).max()),
    }


def cluster(bulk):
    """What flies at each other and apart, with nothing else about."""
    n = bulk.bodies
    rng = np.random.default_rng(0)
    bulk.planes, bulk.gravity = np.zeros((0, 4)), (0.0, 0.0, 0.0)
    bulk.twist = rng.normal(size=(n, 6))
    bulk.twist[:, 3:] = 0.1 * bulk.twist[:, 3:] - 4.0 * (bulk.position - bulk.position.mean(0))
    return bulk


def collision(comm, build):
    """Momentum of what collides across borders, and whether bodies have moved on to other ranks."""
    world = DomainWorld(cluster(build()), dt=1 / 240, comm=comm)
    before, start = world.momentum(), set(world.numbers.tolist())
    size = float(np.sum(world.bulk.mass[0] * np.linalg.norm(world.bulk.twist[:, 3:], axis=1)))
    world.step(40)
    went = comm.allreduce(len(start - set(world.numbers.tolist())))
    every = comm.gather(world.numbers)
    return {
        "momentum": float(np.abs(world.momentum() - before).max()) / size,
        "went": went,
        "all_there": every is None or sorted(np.concatenate(every).tolist()) == list(range(world.bodies)),
        "struck": float(world.energy()["kinetic"]),
    }


def machine(comm, build, steps):
    """Mechanisms among bodies that touch, beside one rank."""
    world = DomainWorld(build(), dt=1 / 240, comm=comm)
    report = world.step(steps)
    state, kinetic = world.gather(), world.energy()["kinetic"]
    joints = comm.gather(world.bench.joints)
    if state is None:
        return None
    one = LargeWorld(build(), dt=1 / 240)
    alone = one.step(steps)
    return {
        "gap": report.position_error,
        "rate": report.velocity_error,
        "unsettled": report.unsettled,
        "joints": sum(joints),
        "of": world.joints,
        "overlap": report.overlap,
        "overlap_alone": alone.overlap,
        "kinetic": kinetic / one.energy()["kinetic"] - 1.0,
        "first": float(state["velocities"][0, 3]),
        "apart": float(np.abs(state["positions"] - one.positions).max()),
        "moved_on": world.regrouped,
    }


def swarm(build):
    """Bodies that fly off to one side together, past all borders."""
    bulk = build(24)
    bulk.planes, bulk.gravity = np.zeros((0, 4)), (0.0, 0.0, 0.0)
    bulk.twist[:, 3] = 3.0
    return bulk


def emptied(comm, build):
    """Ranks that all bodies leave: the fewest bodies that a rank had, and whether all are there."""
    world, fewest = DomainWorld(swarm(build), dt=1 / 240, comm=comm), 24
    for _ in range(40):
        world.step()
        fewest = min(fewest, *comm.allgather(len(world.numbers)))
    state = world.gather()
    if state is None:
        return None
    apart = np.abs(state["positions"][:, 0] - world.bulk.position[:, 0] - 3.0 * world.time).max()
    return {"fewest": fewest, "apart": float(apart)}


def resumed(comm, build, steps, dt=1 / 240):
    """A world that goes on from a checkpoint, beside the one that wrote it: bodies whose bits differ."""
    folder = Path(comm.bcast(tempfile.mkdtemp() if comm.Get_rank() == 0 else None))
    world = DomainWorld(build(), dt=dt, comm=comm)
    world.step(steps)
    world.save(folder)
    again = DomainWorld(build(), dt=dt, comm=comm)
    again.resume(folder)
    states = []
    for one in (world, again):
        one.step(8)
        states.append(one.gather())
    if states[0] is None:
        return None
    shutil.rmtree(folder)
    return {
        "other_bits": sum(int((states[0][name] != states[1][name]).any(1).sum()) for name in states[0]),
        "moved_on": world.regrouped,
        "touching": world.contacts.count if world.contacts else 0,
    }


def pile(comm, n=5000, seconds=2.0):
    """A pile that has come to rest."""
    world = DomainWorld(spheres(n), dt=1 / 240, comm=comm)
    report = world.step(round(240 * seconds))
    kinetic, state = world.energy()["kinetic"] / n, world.gather()
    if state is None:
        return None
    p, planes, twist = state["positions"], world.bulk.planes, state["velocities"]
    touching = np.bincount(cKDTree(p).query_pairs(0.02, output_type="ndarray").ravel(), minlength=n)
    touching += (p @ planes[:, :3].T - planes[:, 3] < 0.01).sum(1)
    own = 0.5 * (0.01 * (twist[:, 3:] ** 2).sum(1) + 0.4 * 0.01 * 0.01**2 * (twist[:, :3] ** 2).sum(1))
    return {
        "held": float(own[touching >= 3].sum()) / n,
        "overlap": report.overlap / 0.01,
        "kinetic": kinetic,
        "contacts": report.contacts,
        "moved_on": world.regrouped,
    }


CHECKS = {
    "chain": lambda comm: beside_one_rank(comm, lambda: chain(200), 20, dt=2e-4),
    "tree": lambda comm: beside_one_rank(comm, lambda: tree(150, children=3), 20, dt=2e-4),
    "loops": lambda comm: beside_one_rank(comm, loops, 20, dt=1e-3),
    "net": lambda comm: beside_one_rank(comm, lambda: net(9), 20, dt=1e-3),
    "doubled net": lambda comm: beside_one_rank(comm, lambda: doubled(7), 20, dt=1e-3),
    "large net": lambda comm: beside_one_rank(comm, lambda: net(50), 100, dt=1e-3),
    "wet": lambda comm: beside_one_rank(comm, wet, 20, dt=1e-3),
    "wet pair": lambda comm: beside_one_rank(comm, wet, 4, dt=1e-3, method="pair"),
    "acting": lambda comm: beside_one_rank(comm, lambda: acting(False), 20, dt=5e-4),
    "acting wet": lambda comm: beside_one_rank(comm, lambda: acting(True), 20, dt=5e-4),
    "acting resumed": lambda comm: resumed(comm, lambda: acting(True), 10, dt=5e-4),
    "balls fly off": lambda comm: emptied(comm, spheres),
    "boxes fly off": lambda comm: emptied(comm, boxes),
    "settling": lambda comm: beside_one_rank(comm, lambda: settling(80), 4, dt=1 / 240),
    "collision": lambda comm: collision(comm, lambda: spheres(120)),
    "boxes collide": lambda comm: collision(comm, lambda: boxes(60)),
    "boxes resumed": lambda comm: resumed(comm, lambda: boxes(40), 30),
    "hopper resumed": lambda comm: resumed(comm, lambda: hopper(40), 50),
    "conveyor": lambda comm: machine(comm, lambda: conveyor(10), 20),
    "hopper": lambda comm: machine(comm, lambda: hopper(40), 50),
    "long chain": lambda comm: beside_one_rank(comm, lambda: chain(10_000), 100, dt=2e-4, rounds=2),
    "large tree": lambda comm: beside_one_rank(comm, lambda: tree(10_000), 100, dt=2e-4, rounds=2),
    "pile": pile,
}


def main() -> None:
    world = MPI.COMM_WORLD
    sizes, names = json.loads(sys.argv[1]), sys.argv[2:]
    for size in sizes:
        comm = world.Split(0 if world.Get_rank() < size else 1, world.Get_rank())
        for name in names:
            found = CHECKS[name](comm) if world.Get_rank() < size else None
            if world.Get_rank() == 0:
                print(json.dumps({"check": name, "size": size, **found}), flush=True)
        done = world.Ibarrier()
        while not done.Test():  # the others wait without spinning
            time.sleep(0.02)


if __name__ == "__main__":
    main()
