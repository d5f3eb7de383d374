"""Trajectories in JAX: a function with a custom VJP, the adjoint of the engine's own steps; it may be jitted.

The engine works in float64: set `jax_enable_x64`, or outcomes are rounded to float32.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..author.errors import ModelError
from ..world.rollout import Rollout


def function_of(rollout: Rollout) -> Callable[[Any], Any]:
    """The rollout as a function of an array [world, to], which returns [world, sample, of].

    Mapped over a further axis (`jax.vmap`) its trajectories are taken one after the other.
    """
    dtype, shape = jnp.result_type(float), (rollout.shape[0], len(rollout.to))
    out, back = jax.ShapeDtypeStruct(rollout.shape, dtype), jax.ShapeDtypeStruct(shape, dtype)

    def take(values: Any) -> np.ndarray:
        return np.asarray(rollout(np.asarray(values, float)), dtype)

    def pull(values: Any, given: Any) -> np.ndarray:
        return np.asarray(rollout.pull(np.asarray(values, float), np.asarray(given, float)), dtype)

    @jax.custom_vjp
    def roll(values: Any) -> Any:
        return jax.pure_callback(take, out, values, vmap_method="sequential")

    def forward(values: Any) -> Any:
        return roll(values), values

    def backward(values: Any, given: Any) -> Any:
        return (jax.pure_callback(pull, back, values, given, vmap_method="sequential"),)

    roll.defvjp(forward, backward)

    def function(values: Any) -> Any:
        numbers = jnp.asarray(values, dtype)
        if numbers.shape != shape:
            raise ModelError(f"rollout: values are {numbers.shape} numbers, expected {shape}")
        return roll(numbers)

    return function
