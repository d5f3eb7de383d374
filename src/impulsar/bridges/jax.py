"""Trajectories in JAX: a function with a custom VJP, the adjoint of the engine's own steps; it may be jitted.

The engine works in float64: set `jax_enable_x64`, or outcomes are rounded to float32.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..world.rollout import Rollout


def function_of(rollout: Rollout) -> Callable[[Any], Any]:
    """The rollout as a function of an array [world, to], which returns [world, sample, of]."""
    dtype = jnp.result_type(float)
    out, back = (jax.ShapeDtypeStruct(shape, dtype) for shape in (rollout.shape, (rollout.shape[0], len(rollout.to))))

    def take(values: Any) -> np.ndarray:
        return np.asarray(rollout(np.asarray(values, float)), dtype)

    def pull(values: Any, given: Any) -> np.ndarray:
        return np.asarray(rollout.pull(np.asarray(values, float), np.asarray(given, float)), dtype)

    @jax.custom_vjp
    def roll(values: Any) -> Any:
        return jax.pure_callback(take, out, values)

    def forward(values: Any) -> Any:
        return roll(values), values

    def backward(values: Any, given: Any) -> Any:
        return (jax.pure_callback(pull, back, values, given),)

    roll.defvjp(forward, backward)
    return roll
