"""Trajectories in PyTorch: a function of a tensor, with the adjoint of the engine's own steps as its backward."""

from typing import Any

import numpy as np
import torch

from ..author.errors import ModelError
from ..world.rollout import Rollout


def _numbers(given: torch.Tensor) -> np.ndarray:
    found: np.ndarray = given.detach().cpu().double().numpy()
    return found


def _one_by_one(function: Any, info: Any, dims: Any, *given: Any) -> tuple[torch.Tensor, int]:
    """A function mapped over an axis of some of its tensors."""
    pairs = list(zip(given, dims, strict=True))
    rows = [[one if dim is None else one.select(dim, k) for one, dim in pairs] for k in range(info.batch_size)]
    return torch.stack([function.apply(*row) for row in rows]), 0


class _Roll(torch.autograd.Function):
    @staticmethod
    def forward(values: torch.Tensor, rollout: Rollout) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(rollout(_numbers(values)))).to(values)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        values, ctx.rollout = inputs
        ctx.save_for_backward(values)

    @staticmethod
    def backward(ctx: Any, *given: torch.Tensor) -> Any:
        return _Pull.apply(*ctx.saved_tensors, given[0], ctx.rollout), None

    @staticmethod
    def vmap(info: Any, in_dims: Any, *given: Any) -> tuple[torch.Tensor, int]:
        return _one_by_one(_Roll, info, in_dims, *given)


class _Pull(torch.autograd.Function):
    @staticmethod
    def forward(values: torch.Tensor, given: torch.Tensor, rollout: Rollout) -> torch.Tensor:
        pulled = rollout.pull(_numbers(values), _numbers(given))
        return torch.from_numpy(np.ascontiguousarray(pulled)).to(values)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *given: torch.Tensor) -> Any:
        raise ModelError("roll: a rollout has first derivatives only; take second ones by differences of them")

    @staticmethod
    def vmap(info: Any, in_dims: Any, *given: Any) -> tuple[torch.Tensor, int]:
        return _one_by_one(_Pull, info, in_dims, *given)


def roll(rollout: Rollout, values: torch.Tensor) -> torch.Tensor:
    """Outcomes [world, sample, of] of a rollout for a tensor [world, to]; gradients flow back to it, once.

    The engine works in float64 on its own device; tensors of another kind are converted both ways.
    """
    if not isinstance(values, torch.Tensor) or not values.is_floating_point():
        told = getattr(values, "dtype", type(values).__name__)
        raise ModelError(f"roll: values are of {told}, expected a tensor of floating-point numbers [world, to]")
    found: torch.Tensor = _Roll.apply(values, rollout)
    return found
