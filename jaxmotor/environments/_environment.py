"""An environment whose actions go through motors: Gymnasium's reset and step, as functions of a state."""

import abc
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from .. import mjx
from .._saturation import Saturation


class Costs(eqx.Module):
    """What a second of motor use takes off the reward: per watt of copper loss, per watt drawn from the battery."""

    copper_loss: float = 0.0
    battery: float = 0.0


class EnvironmentState(eqx.Module):
    """The body's MJX `data`, the states of the `motors`, their `params` in this episode, the last motor `out`puts and
    the control `steps` done."""

    data: Any
    motors: Any
    params: Any
    out: mjx.MotorsOutput
    steps: Int[Array, ""]


class Transition(eqx.Module):
    """What `step` returns beside the state, in Gymnasium's words.

    `info` has sums or means over the control step: `copper_loss` [W], `battery_power` [W], `saturated` (share of
    motors and physics steps), and `temperature` [degC] of each motor.
    """

    observation: Float[Array, " observation"]
    reward: Float[Array, ""]
    terminated: Bool[Array, ""]
    truncated: Bool[Array, ""]
    info: dict[str, Array]


class AbstractEnvironment(eqx.Module):
    """A body with motors and a task. `model`, `group` and `params` come from `mjx.put_model`.

    The observation is the task's own and, per motor: speed at the shaft over `speed_scale`, temperature over 100 degC,
    and 1 where a limit bound in the last physics step.
    """

    model: Any
    group: mjx.Motors
    params: Any
    costs: Costs
    substeps: int = eqx.field(static=True)
    horizon: int = eqx.field(static=True)
    speed_scale: float = eqx.field(static=True)

    @abc.abstractmethod
    def start(self, key: Array) -> tuple[Array, Array]:
        """A random qpos and qvel."""

    @abc.abstractmethod
    def command(self, action: Array) -> Array:
        """The control vector of the MuJoCo model for an action in [-1, 1]."""

    @abc.abstractmethod
    def task_observation(self, data: Any, steps: Array) -> Array:
        """What the policy sees of the body."""

    @abc.abstractmethod
    def task_reward(self, data: Any, steps: Array) -> Array:
        """Reward of a control step that ends in `data`."""

    @abc.abstractmethod
    def applied(self, data: Any) -> Array:
        """Torques on the freedoms from outside [N m], anew in every physics step."""

    @abc.abstractmethod
    def fallen(self, data: Any, steps: Array) -> Array:
        """Whether the task is lost in `data`, which ends the episode."""

    def reset(self, key: Array, params: Any = None) -> tuple[EnvironmentState, Array]:
        """A new episode, motors cold, with the motors `params` (or the environment's own); its first observation."""
        qpos, qvel = self.start(key)
        params = self.params if params is None else params
        data, motors = mjx.reset(self.model, self.group, params, qpos, qvel)
        # At rest and cold: nothing ran yet, so the outputs of a step without command are what a logger would read.
        silent = jnp.zeros_like(self.command(self.action_like(data)))
        _, _, out = self.group.step(motors, params, silent, data.qpos, data.qvel, self.model.opt.timestep)
        state = EnvironmentState(data, motors, params, out, jnp.asarray(0, jnp.int32))
        return state, self.observation(state)

    def step(self, state: EnvironmentState, action: Array) -> tuple[EnvironmentState, Transition]:
        """One control step under `action`, clipped to [-1, 1]."""
        ctrl = self.command(jnp.clip(action, -1, 1))

        def body(carry, _):
            data, motors = carry
            data = data.replace(qfrc_applied=self.applied(data).astype(data.qvel.dtype))
            data, motors, out = mjx.step(self.model, data, self.group, state.params, motors, ctrl)
            return (data, motors), out

        (data, motors), outs = jax.lax.scan(body, (state.data, state.motors), None, length=self.substeps)
        steps = state.steps + 1
        last = jax.tree.map(lambda x: x[-1], outs)
        after = EnvironmentState(data, motors, state.params, last, steps)
        heat = jnp.mean(jnp.sum(outs.copper_loss, axis=1))
        drawn = jnp.mean(jnp.sum(outs.electrical_power, axis=1))
        seconds = self.substeps * self.model.opt.timestep
        price = (self.costs.copper_loss * heat + self.costs.battery * drawn) * seconds
        return after, Transition(
            observation=self.observation(after),
            reward=self.task_reward(data, steps) - price,
            terminated=self.fallen(data, steps) | ~jnp.all(jnp.isfinite(data.qpos)),
            truncated=steps >= self.horizon,
            info={
                "copper_loss": heat,
                "battery_power": drawn,
                "saturated": jnp.mean((outs.saturation != Saturation.NONE.value).astype(drawn.dtype)),
                "temperature": last.temperature,
            },
        )

    def observation(self, state: EnvironmentState) -> Array:
        """The observation of a state."""
        task = self.task_observation(state.data, state.steps)
        bound = (state.out.saturation != Saturation.NONE.value).astype(task.dtype)
        speed = state.out.qvel / self.speed_scale
        return jnp.concatenate([task, speed, state.out.temperature / 100, bound])

    def action_like(self, data: Any) -> Array:
        """An action of zeros."""
        return jnp.zeros(len(self.group.names), data.qpos.dtype)
