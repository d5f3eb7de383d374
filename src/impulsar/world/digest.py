"""Digests of the bits of everything that decides a world's future."""

import hashlib
from dataclasses import fields

import numpy as np

from ..author.profiles import Component, Formula, Profile, Scalar
from ..engine.system import TOPOLOGY_OF_EDITS
from .runner import Runner

INPUT_ARRAYS = ("parent", "dof_kind", "first", "second", "slot_kind", "slot_part", "slot_code")


class Digest:
    """Of state, parameters, inputs and method; what only edits change is digested once between them."""

    def __init__(self, runner: Runner):
        self._runner = runner
        self._inputs: tuple[tuple[int, int], bytes] | None = None

    def read(self) -> str:
        """The digest as hexadecimal digits."""
        edition = self._runner.edition, self._runner.beats.acted  # controllers write channels
        if self._inputs is None or self._inputs[0] != edition:
            self._inputs = edition, self._input_bits()
        digest = hashlib.blake2b(self._inputs[1], digest_size=16)
        digest.update(self._runner.state.hash().encode())
        if self._runner.recipe is not None and self._runner.recipe.samples:
            digest.update(self._runner.recipe.bits())
        return digest.hexdigest()

    def _input_bits(self) -> bytes:
        """Digest of all that only edits change."""
        runner, system = self._runner, self._runner.system
        digest = hashlib.blake2b(digest_size=16)
        for name in sorted(system.parameters):
            digest.update(name.encode())
            digest.update(system.parameter(name).data)
        for name in (*TOPOLOGY_OF_EDITS, *INPUT_ARRAYS):
            digest.update(np.ascontiguousarray(getattr(system.arrays, name).numpy()).data)
        for item in system.channels.items:
            digest.update(_channel_bits(item, runner.worlds))
        method = runner.method
        chosen = {e.name: getattr(method, e.name) for e in fields(method) if getattr(method, e.name) != e.default}
        options = (method.name, chosen, runner.work_limit, runner.dt, runner.coordinates, runner.script_position)
        clamps = (runner.clamps.max_speed, runner.clamps.max_hand_force)
        digest.update(repr((*options, *clamps, system.hand_names, system.load_names)).encode())
        for one in runner.beats.controllers.values():
            edit = one.edit
            digest.update(repr((edit.name, edit.rate, edit.reads, edit.writes, edit.hold, one.start)).encode())
        return digest.digest()


def _channel_bits(item: Scalar, worlds: int) -> bytes:
    """Bits of what a channel follows; of a callable there are none but which component it is."""
    if isinstance(item, Component):
        return f"Component {item.index}".encode()
    if isinstance(item, Formula):
        return f"Formula {item.text}".encode()
    if isinstance(item, Profile):
        numbers = [np.ravel(getattr(item, entry.name)) for entry in fields(item)]
        return type(item).__name__.encode() + np.concatenate(numbers).astype(float).tobytes()
    return np.broadcast_to(np.ravel(np.asarray(item, float)), worlds).tobytes()
