"""Budgets: wall time of a step, turned into a limit of the method's own unit of work, from what that costs here."""

import time as wall
from dataclasses import replace
from typing import Any

import warp as wp

from ..author.checks import as_float, is_number, show
from ..author.errors import ModelError
from ..engine import stand_ins
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
    stand_ins.wait()  # what stands in costs another time
    before, method = snapshot.take(runner), runner.method

    def trial(method: Any, limit: int) -> tuple[float, float]:
        return _cost(runner, replace(before, method=method, work_limit=limit))

    limit = max(method.least_work, min(method.most_work, method.work_in(budget, trial)))
    snapshot.put_back(runner, before)
    runner.write_options(limit)


def _cost(runner: Runner, start: snapshot.Snapshot) -> tuple[float, float]:
    """Time of a step from there [s], and the work done in it: the median of several, by the cost of a unit."""
    costs = []
    for _ in range(TRIALS):
        spent = _timed_launch(runner, start)
        done = max(1.0, float(runner.work.report.numpy()[measured.ITERATIONS].max()))
        costs.append((spent / done, spent, done))
    _, spent, done = sorted(costs)[TRIALS // 2]
    return spent, done


def _timed_launch(runner: Runner, start: snapshot.Snapshot) -> float:
    snapshot.put_back(runner, start)
    began = wall.perf_counter()
    runner.launch()
    wp.synchronize_device(runner.device)
    return wall.perf_counter() - began
