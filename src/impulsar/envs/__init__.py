"""Gymnasium environments of mechanisms with closed loops. Needs `pip install 'impulsar[envs]'`.

import gymnasium, impulsar.envs
envs = gymnasium.make_vec("impulsar/FiveBarReach-v0", num_envs=64, vectorization_mode="vector_entry_point")
"""

from ..author.errors import ModelError

try:
    import gymnasium
except ImportError as error:
    raise ModelError("impulsar.envs needs Gymnasium: pip install 'impulsar[envs]'") from error

from .five_bar import FiveBarReach
from .lift import LiftHold
from .task import Task
from .tasks import TASKS
from .vector import MechanismEnv, MechanismVectorEnv
from .walk import Walk

__all__ = ["TASKS", "FiveBarReach", "LiftHold", "MechanismEnv", "MechanismVectorEnv", "Task", "Walk"]

for _name, _task in TASKS.items():
    gymnasium.register(
        id=f"impulsar/{_name}-v0",
        entry_point="impulsar.envs:MechanismEnv",
        vector_entry_point="impulsar.envs:MechanismVectorEnv",
        max_episode_steps=_task.length,
        kwargs={"task": _name},
    )
