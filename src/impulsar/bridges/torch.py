"""Trajectories in PyTorch: a function of a tensor, with the adjoint of the engine's own steps as its backward."""

from typing import Any

import numpy as np
import torch

from ..world.rollout import Rollout


class _Roll(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: torch.Tensor, rollout: Rollout) -> torch.Tensor:
        ctx.rollout, ctx.values = rollout, values.detach().cpu().double().numpy().copy()
        return torch.from_numpy(np.ascontiguousarray(rollout(ctx.values))).to(values)

    @staticmethod
    def backward(ctx: Any, *given: torch.Tensor) -> Any:
        pulled = ctx.rollout.pull(ctx.values, given[0].detach().cpu().double().numpy())
        return torch.from_numpy(np.ascontiguousarray(pulled)).to(given[0]), None


def roll(rollout: Rollout, values: torch.Tensor) -> torch.Tensor:
    """Outcomes [world, sample, of] of a rollout for a tensor [world, to]; gradients flow back to it.

    The engine works in float64 on its own device; tensors of another kind are converted both ways.
    """
    found: torch.Tensor = _Roll.apply(values, rollout)
    return found
