"""A test bench: one actuator on one load."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ._actuator import Actuator, ActuatorOutput, ActuatorParams, ActuatorState
from ._integrator import AbstractIntegrator, ExactFlow
from ._load import AbstractLoad
from ._stage import Scalar


class BenchParams(eqx.Module):
    """Params of the `actuator` and of the `load`."""

    actuator: ActuatorParams
    load: Any


class BenchState(eqx.Module):
    """State of the `actuator`, joint angle `qpos` [rad] and speed `qvel` [rad/s]."""

    actuator: ActuatorState
    qpos: Scalar
    qvel: Scalar


class BenchOutput(eqx.Module):
    """Joint angle `qpos` [rad] and speed `qvel` [rad/s] at the start of each step, and the `actuator`'s outputs.

    `result`: a `Result` code of the whole rollout.
    """

    qpos: Float[Array, " time"]
    qvel: Float[Array, " time"]
    actuator: ActuatorOutput
    result: Int[Array, ""]


class Bench(eqx.Module):
    """An actuator on a load with one joint, moved by an integrator."""

    actuator: Actuator
    load: AbstractLoad
    integrator: AbstractIntegrator = ExactFlow()

    def init(self, params: BenchParams, qpos: Any = 0.0, qvel: Any = 0.0) -> BenchState:
        """At rest and cold with the joint at `qpos` [rad], `qvel` [rad/s], which take the float type of `params`."""
        like = self.load.inertia(params.load, jnp.zeros((), params.actuator.motor.winding.resistance.dtype))
        qpos, qvel = jnp.asarray(qpos, like.dtype), jnp.asarray(qvel, like.dtype)
        actuator = self.actuator.placed(self.actuator.init(params.actuator), params.actuator, qpos, qvel)
        return BenchState(actuator, qpos, qvel)

    def step(self, state: BenchState, params: BenchParams, ctrl: Any, dt: Scalar) -> tuple[BenchState, ActuatorOutput]:
        """Advance actuator and load together by `dt` [s]; `ctrl` as for `Actuator.step`."""
        actuator_state, qpos, qvel, out = self.integrator.step(
            self.actuator, self.load, state.actuator, params.actuator, params.load, ctrl, state.qpos, state.qvel, dt
        )
        return BenchState(actuator_state, qpos, qvel), out
