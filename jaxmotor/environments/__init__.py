"""Tasks for policies that act through motors: functional, differentiable, batched by `jax.vmap`.

They need the extra `mujoco`.
"""

from ._environment import (
    AbstractEnvironment as AbstractEnvironment,
    Costs as Costs,
    EnvironmentState as EnvironmentState,
    Transition as Transition,
)
from ._jump_leg import JumpLeg as JumpLeg
from ._swing_leg import SwingLeg as SwingLeg
from ._swing_up import SwingUp as SwingUp
