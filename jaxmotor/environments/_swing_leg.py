"""A leg that runs in the air as fast as its operating region lets it."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from .. import mjx
from .._actuator import Actuator, ActuatorParams
from .._controller import TorqueDrive
from .._gear import GearParams
from .._limits import TorqueLimit, TorqueLimitParams
from .._lumped_thermal import LumpedThermal, LumpedThermalParams
from .._motor import Motor, MotorParams
from .._supply import FixedSupply, FixedSupplyParams
from .._winding import QuasiStatic, QuasiStaticParams
from ._environment import AbstractEnvironment, Costs

MJCF = """<mujoco model="leg"><option timestep="0.004" integrator="implicitfast"/>
<default><geom type="capsule" size="0.025" contype="0" conaffinity="0"/></default>
<worldbody><body name="thigh"><joint name="hip" axis="0 1 0" damping="0.05"/>
<geom fromto="0 0 0 0 0 -0.3" mass="2.5"/><body name="shank" pos="0 0 -0.3">
<joint name="knee" axis="0 1 0" damping="0.05"/><geom fromto="0 0 0 0 0 -0.3" mass="0.6"/></body></body></worldbody>
<tendon><fixed name="belt"><joint joint="hip" coef="-1"/><joint joint="knee" coef="1"/></fixed></tendon>
<actuator><motor name="hip" joint="hip"/><motor name="knee" tendon="belt"/></actuator></mujoco>"""

PEAK = 2.5


def region_motor(peak_torque: float = PEAK, bus_voltage: float = 20.0) -> tuple[Actuator, ActuatorParams]:
    """A current-controlled motor on a stiff bus with a peak torque [N m]: an operating region that shrinks as it heats.

    A quadruped's frameless motor by its magnitudes, with a 9:1 gear; not one maker's data.
    """
    motor = Motor(QuasiStatic(), LumpedThermal(), TorqueLimit())
    params = ActuatorParams(
        MotorParams(
            QuasiStaticParams(0.4, 0.1, 0.1),
            LumpedThermalParams(1.0, 60.0, 0.0039, 25.0, 25.0),
            TorqueLimitParams(peak_torque),
        ),
        supply=FixedSupplyParams(bus_voltage),
        gear=GearParams(9.0, 1e-4),
    )
    return Actuator(motor, TorqueDrive(), FixedSupply()), params


class SwingLeg(AbstractEnvironment):
    """A hip and a knee, both motors at the hip: the belt to the knee turns with the hip, so the knee's motor turns with
    the difference of both joints. The hip is held; the joints shall follow a running gait of `frequency` [Hz].

    Action: share of each motor's peak torque. Observation: joint angles, speeds in 10 rad/s, errors to the gait and
    its phase, then the motors'.
    """

    frequency: float

    def __init__(self, params: Any = None, costs: Costs | None = None, frequency: float = 3.0, horizon: int = 100):
        motor = region_motor()
        self.model, self.group, own = mjx.put_model(MJCF, {"hip": motor, "knee": motor})
        self.params = own if params is None else params
        self.costs = Costs() if costs is None else costs
        self.substeps, self.horizon, self.speed_scale = 2, horizon, 10.0
        self.frequency = frequency

    def gait(self, steps: Array) -> tuple[Array, Array]:
        """The joint angles [rad] to be at, and the phase [rad]."""
        phase = 2 * jnp.pi * self.frequency * self.substeps * self.model.opt.timestep * steps
        return jnp.stack([0.4 * jnp.sin(phase), -1.0 + 0.7 * jnp.cos(phase)]), phase

    def start(self, key: Array) -> tuple[Array, Array]:
        angles, _ = self.gait(jnp.asarray(0))
        scatter = 0.2 * jax.random.normal(key, (2,), self.model.qpos0.dtype)
        return angles.astype(scatter.dtype) + scatter, jnp.zeros_like(scatter)

    def command(self, action: Array) -> Array:
        return PEAK * action

    def task_observation(self, data: Any, steps: Array) -> Array:
        target, phase = self.gait(steps)
        clock = jnp.stack([jnp.sin(phase), jnp.cos(phase)]).astype(data.qpos.dtype)
        return jnp.concatenate([data.qpos, data.qvel / 10, (target - data.qpos).astype(data.qpos.dtype), clock])

    def task_reward(self, data: Any, steps: Array) -> Array:
        target, _ = self.gait(steps)
        return -jnp.sum((target - data.qpos) ** 2).astype(data.qpos.dtype)

    def applied(self, data: Any) -> Array:
        return jnp.zeros_like(data.qvel)

    def fallen(self, data: Any, steps: Array) -> Array:
        del data, steps
        return jnp.asarray(False)
