"""Chains as CSV: a line `name, length [m], mass [kg]` for each link, hanging from the origin."""

import csv
from pathlib import Path

import impulsar as im


def read(data: bytes, folder: Path | None) -> im.Model:
    """The model of a file's bytes."""
    model = im.Model("chain of a file")
    before, z = model.ground, 0.0
    for line, row in enumerate(csv.reader(data.decode().splitlines()), 1):
        if len(row) != 3:
            raise ValueError(f"line {line} has {len(row)} fields, expected name, length and mass")
        name, length, mass = row[0].strip(), float(row[1]), float(row[2])
        spin = mass * length**2 / 12
        link = model.body(name, mass, (spin, spin, 0.01 * spin), (0.0, 0.0, z - length / 2))
        model.joint(f"{name} hinge", "revolute", before, link, at=(0.0, 0.0, z), axis=(0, 1, 0))
        before, z = link, z - length
    model.dt, model.duration = 0.01, 1.0
    return model
