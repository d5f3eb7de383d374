"""Budgets: wall time of a step, turned into a limit of the method's own unit of work, from what that costs here."""

import time as wall
from dataclasses import replace

import numpy as np
import warp as wp

from ..author.checks import as_float, is_number, show
from ..author.errors import ModelError
from ..engine.integrate.pairs import STAGES
from ..engine.system import measured
from . import snapshot
from .options import LONGEST_STEP
from .runner import Runner

TRIALS = 7


def keep_budget(runner: Runner, budget: float) -> None:
    """Limit a runner's work in a step to what a budget [s] allows."""
    if not (is_number(budget) and 0 < budget <= LONGEST_STEP):
        raise ModelError(
            f"budget is {as_float(budget) if is_number(budget) else show(budget)}, expected a time > 0 [s]"
        )
    before, most = snapshot.take(runner), runner.method.iterations
    if runner.method.order > 1:
        limit = max(STAGES, min(most, int(budget / _cost_of_evaluation(runner, before))))
    else:
        limit = max(1, min(most, _sweeps_in(budget, runner, before)))
    snapshot.put_back(runner, before)
    runner.write_options(limit)


def _cost_of_evaluation(runner: Runner, before: snapshot.Snapshot) -> float:
    """Time that an evaluation takes in steps of an error-controlled method here [s]."""
    costs = []
    for _ in range(TRIALS):
        spent = _timed_launch(runner, before)
        costs.append(spent / max(1.0, float(runner.work.report.numpy()[measured.ITERATIONS].max())))
    return float(np.median(costs))


def _sweeps_in(budget: float, runner: Runner, before: snapshot.Snapshot) -> int:
    """Sweeps that a budget allows."""
    cost = {}
    for sweeps in (1, 33):
        method = replace(runner.method, epsilon=0.0, iterations=sweeps)
        trial = replace(before, method=method, work_limit=sweeps)
        cost[sweeps] = float(np.median([_timed_launch(runner, trial) for _ in range(TRIALS)]))
    per_sweep = max((cost[33] - cost[1]) / 32, 1e-9)
    return 1 + int((budget - cost[1]) / per_sweep)


def _timed_launch(runner: Runner, start: snapshot.Snapshot) -> float:
    snapshot.put_back(runner, start)
    began = wall.perf_counter()
    runner.launch()
    wp.synchronize_device(runner.device)
    return wall.perf_counter() - began
