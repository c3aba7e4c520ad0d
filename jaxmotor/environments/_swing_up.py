"""Swing a pendulum up with a motor that cannot lift it and gets hot."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from .. import mjx
from ._environment import AbstractEnvironment, Costs

MJCF = """<mujoco model="swing up"><option timestep="0.02" integrator="implicitfast"/>
<worldbody><body><joint name="pivot" axis="0 1 0" damping="0.005"/>
<geom type="capsule" size="0.01" fromto="0 0 0 0 0 -0.3" mass="0.05" contype="0" conaffinity="0"/>
<geom type="sphere" size="0.04" pos="0 0 -0.3" mass="0.4" contype="0" conaffinity="0"/></body></worldbody>
<actuator><dcmotor name="motor" joint="pivot" resistance="1.2" motorconst="0.04" gear="6" armature="1e-5"
damping="2e-5" saturation="0.1" thermal="6 1.5 0 0.0039 25 25" input="ff" controller="0 0 0 0 0 8"/></actuator>
</mujoco>"""

PEAK = 0.1


class SwingUp(AbstractEnvironment):
    """A pendulum that hangs at qpos = 0; upright is pi. The action is a share of the motor's peak torque.

    The peak is half of what holds the pendulum level, so it must swing; every swing heats the winding, and the hotter
    it is, the more of the 8 V a torque takes. Observation: cosine and sine of the angle, speed in 10 rad/s, then the
    motor's.
    """

    def __init__(self, params: Any = None, costs: Costs | None = None, horizon: int = 200):
        self.model, self.group, own = mjx.put_model(MJCF)
        self.params = own if params is None else params
        self.costs = Costs() if costs is None else costs
        self.substeps, self.horizon, self.speed_scale = 2, horizon, 10.0

    def start(self, key: Array) -> tuple[Array, Array]:
        angle, speed = jax.random.split(key)
        dtype = self.model.qpos0.dtype
        return (
            jax.random.uniform(angle, (1,), dtype, -jnp.pi, jnp.pi),
            jax.random.uniform(speed, (1,), dtype, -1.0, 1.0),
        )

    def command(self, action: Array) -> Array:
        return PEAK * action

    def task_observation(self, data: Any, steps: Array) -> Array:
        del steps
        return jnp.stack([jnp.cos(data.qpos[0]), jnp.sin(data.qpos[0]), data.qvel[0] / 10])

    def task_reward(self, data: Any, steps: Array) -> Array:
        """-1 to 0: the angle, and a little for speed near the top."""
        del steps
        low = (1 + jnp.cos(data.qpos[0])) / 2
        return -low - 0.01 * data.qvel[0] ** 2 * (1 - low)

    def applied(self, data: Any) -> Array:
        return jnp.zeros_like(data.qvel)

    def fallen(self, data: Any, steps: Array) -> Array:
        del data, steps
        return jnp.asarray(False)

    def upright(self, data: Any) -> Array:
        """Whether the pendulum stands still within 0.2 rad of the top."""
        return (jnp.cos(data.qpos[0]) < -jnp.cos(0.2)) & (jnp.abs(data.qvel[0]) < 0.5)
