"""What becomes of a logged command before the bench sees it."""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from jaxmotor._exponential import phi1

from ._sensors import Sensors

Row = Float[Array, " time"]


class AbstractCommandPath(eqx.Module):
    """The way from a row's command to the bench."""

    @abc.abstractmethod
    def acts(self, command: Row, dt: Row, sensors: Sensors) -> Row:
        """The command that acts in each row."""


class DirectCommand(AbstractCommandPath):
    """A command acts in its own row. What a `LateCommand` without delay and lag does, in a tenth less of a fit."""

    def acts(self, command: Row, dt: Row, sensors: Sensors) -> Row:
        del dt
        return command + sensors.torque_offset


class LateCommand(AbstractCommandPath):
    """A command acts after the sensors' `delay`, and behind their `lag`."""

    def acts(self, command: Row, dt: Row, sensors: Sensors) -> Row:
        return lagged(delayed(command, dt, sensors.delay) + sensors.torque_offset, dt, sensors.lag)


def delayed(command: Row, dt: Row, delay: Float[Array, ""]) -> Row:
    """A held command that acts `delay` [s] later than its row, as its mean over each row.

    Reading the line through the rows at t - delay is that mean for a command held over equal rows, and unlike the
    held command itself it has a slope in the delay.
    """
    time = jnp.cumsum(dt) - dt
    return jnp.interp(time - delay, time, command)


def lagged(command: Row, dt: Row, lag: Float[Array, ""]) -> Row:
    """A held command behind a first-order lag [s], as its mean over each row; exact, and the command itself at zero.

    y' = (u - y) / lag from y = u at the first row: over a row of length h, y_end = u + (y - u) e^(-h/lag) and the
    mean is u + (y - u) phi1(-h/lag).
    """
    quick = lag < 1e-6
    safe = jnp.where(quick, jnp.ones_like(lag), lag)

    def body(state, row):
        held, step = row
        x = -step / safe
        gap = jnp.where(quick, jnp.zeros_like(held), state - held)
        return held + gap * jnp.exp(x), held + gap * phi1(x)

    _, means = jax.lax.scan(body, command[0], (command, dt))
    return means
