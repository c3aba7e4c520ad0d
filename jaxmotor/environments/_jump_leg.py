"""A leg on a rail that must jump over a beam when that passes, and land."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from .. import mjx
from ._environment import AbstractEnvironment, Costs
from ._swing_leg import PEAK, region_motor

MJCF = """<mujoco model="jumping leg"><option timestep="0.004" integrator="implicitfast"/><default>
<geom type="capsule" size="0.02" contype="0" conaffinity="0"/></default><worldbody>
<body name="trunk" pos="0 0 0.6"><joint name="rail" type="slide" axis="0 0 1" damping="0.5"/>
<geom type="sphere" size="0.06" mass="4"/><body name="thigh"><joint name="hip" axis="0 1 0" damping="0.05"/>
<geom fromto="0 0 0 0 0 -0.3" mass="0.6"/><body name="shank" pos="0 0 -0.3">
<joint name="knee" axis="0 1 0" damping="0.05"/><geom fromto="0 0 0 0 0 -0.3" mass="0.25"/>
<geom name="foot" type="sphere" size="0.02" pos="0 0 -0.3" mass="0.05"/></body></body></body></worldbody>
<tendon><fixed name="belt"><joint joint="hip" coef="-1"/><joint joint="knee" coef="1"/></fixed></tendon>
<actuator><motor name="hip" joint="hip"/><motor name="knee" tendon="belt"/></actuator></mujoco>"""

LINK, TOE, RAIL = 0.3, 0.02, 0.6
FIRST, LAST, LOWEST, LANDED = 0.4, 0.46, 0.2, 0.9
# A mat that gives 6 mm under the weight. MJX's own contacts have no reverse derivative unless their solver makes a
# single step, which is coarse, and even that takes a minute to compile.
STIFFNESS, DAMPING = 8000.0, 60.0


class JumpLeg(AbstractEnvironment):
    """A trunk of 4 kg on a vertical rail, a hip and a knee driven as in `SwingLeg`, and a roller for a
    foot on a springy floor.

    From a crouch the leg must bring its trunk above `height` [m] while a beam passes below that, 0.40 to 0.46 s after
    the start, and then land with the trunk above 0.2 m; else it falls. Action: share of each motor's peak torque.
    Observation: trunk height, joint angles, speeds in 1 m/s and 10 rad/s and the time [s], then the motors'.
    """

    height: float

    def __init__(self, params: Any = None, costs: Costs | None = None, height: float = 0.7, horizon: int = 150):
        motor = region_motor()
        self.model, self.group, own = mjx.put_model(MJCF, {"hip": motor, "knee": motor})
        self.params = own if params is None else params
        self.costs = Costs() if costs is None else costs
        self.substeps, self.horizon, self.speed_scale = 2, horizon, 10.0
        self.height = height

    def time(self, steps: Array) -> Array:
        """Seconds since the start."""
        return self.substeps * self.model.opt.timestep * steps

    def trunk(self, data: Any) -> Array:
        """Height of the trunk [m]."""
        return RAIL + data.qpos[0]

    def applied(self, data: Any) -> Array:
        """What the floor does, through the lever arms of the foot's height; it pushes and never pulls."""
        _, hip, knee = data.qpos
        reach, lever = self.trunk(data) - TOE, LINK * jnp.sin(hip + knee)
        sole = reach - LINK * (jnp.cos(hip) + jnp.cos(hip + knee))
        arms = jnp.stack([jnp.ones_like(hip), LINK * jnp.sin(hip) + lever, lever])
        push = -STIFFNESS * sole - DAMPING * jnp.sum(arms * data.qvel)
        return jnp.where(sole < 0, jnp.maximum(push, 0), 0) * arms

    def passing(self, steps: Array) -> Array:
        """Whether the beam is there."""
        time = self.time(steps)
        return (time >= FIRST) & (time <= LAST)

    def start(self, key: Array) -> tuple[Array, Array]:
        dtype = self.model.qpos0.dtype
        hip, knee = jnp.array([0.8, -1.6], dtype) + 0.05 * jax.random.normal(key, (2,), dtype)
        stands = LINK * (jnp.cos(hip) + jnp.cos(hip + knee)) + TOE - RAIL
        return jnp.stack([stands, hip, knee]), jnp.zeros(3, dtype)

    def command(self, action: Array) -> Array:
        return PEAK * action

    def task_observation(self, data: Any, steps: Array) -> Array:
        place = jnp.stack([self.trunk(data), *data.qpos[1:]])
        time = self.time(steps).astype(place.dtype)
        return jnp.concatenate([place, data.qvel / jnp.array([1, 10, 10], place.dtype), time[None]])

    def task_reward(self, data: Any, steps: Array) -> Array:
        """Squared shortfalls [m^2]: 20 times that under the height and 3 cm more while the beam passes, twice that
        under 0.3 m, and the distance of the trunk from its crouch when it has landed."""
        trunk = self.trunk(data)
        under = jnp.where(self.passing(steps), jnp.maximum(self.height + 0.03 - trunk, 0), 0)
        low = jnp.maximum(LOWEST + 0.1 - trunk, 0)
        away = jnp.where(self.time(steps) > LANDED, trunk - 0.44, 0)
        return -(20 * under**2 + 2 * low**2 + away**2).astype(data.qpos.dtype)

    def fallen(self, data: Any, steps: Array) -> Array:
        trunk = self.trunk(data)
        return (self.passing(steps) & (trunk < self.height)) | (trunk < LOWEST)
