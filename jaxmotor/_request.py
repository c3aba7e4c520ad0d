"""What a controller asks of the power stage.

A request is not yet a voltage: a duty needs the bus, a torque needs the winding as it is now and the speed as it is
now. Evaluating it inside the step lets a current loop follow the back-EMF while the command is held.
"""

import abc
from typing import Any

import equinox as eqx

from ._bounded import bounded
from ._stage import Scalar


class AbstractRequest(eqx.Module):
    """A demand on the terminals, a line in the bus voltage."""

    @abc.abstractmethod
    def volts(self, bus_voltage: Scalar, winding: Any, qvel: Scalar) -> Scalar:
        """Terminal voltage [V] asked for at this bus voltage [V], hot winding params and shaft speed [rad/s]."""

    @abc.abstractmethod
    def ceiling(self, bus_voltage: Scalar) -> Scalar:
        """Largest magnitude of the terminal voltage [V] that the power stage lets through."""


class VoltageRequest(AbstractRequest):
    """`voltage` [V] at the terminals, up to the bus voltage."""

    voltage: Scalar

    def volts(self, bus_voltage: Scalar, winding: Any, qvel: Scalar) -> Scalar:
        del bus_voltage, winding, qvel
        return self.voltage

    def ceiling(self, bus_voltage: Scalar) -> Scalar:
        return bus_voltage


class DutyRequest(AbstractRequest):
    """`duty` of the bridge [1], signed, with its largest magnitude `duty_limit` [1]: v = duty V."""

    duty: Scalar
    duty_limit: Scalar

    def volts(self, bus_voltage: Scalar, winding: Any, qvel: Scalar) -> Scalar:
        del winding, qvel
        return self.duty * bus_voltage

    def ceiling(self, bus_voltage: Scalar) -> Scalar:
        return self.duty_limit * bus_voltage


class TorqueRequest(AbstractRequest):
    """`torque` [N m] at the shaft from an ideal current loop: v = R tau / Kt + Ke w."""

    torque: Scalar

    def volts(self, bus_voltage: Scalar, winding: Any, qvel: Scalar) -> Scalar:
        del bus_voltage
        return winding.resistance * self.torque / winding.torque_constant + winding.back_emf_constant * qvel

    def ceiling(self, bus_voltage: Scalar) -> Scalar:
        return bus_voltage


class SpeedFeedbackRequest(AbstractRequest):
    """v = clip(gain (target - w) + voltage, +-bound): a speed loop that is much faster than the rows of a log.

    Its `gain` [V s/rad] acts on the present shaft speed w, like the back-EMF; sampled once a row it would be unstable
    for h > 2 J R / (K gain). `target` [rad/s], `voltage` [V] and `bound` [V] are held over the step.
    """

    target: Scalar
    gain: Scalar
    voltage: Scalar
    bound: Scalar

    def volts(self, bus_voltage: Scalar, winding: Any, qvel: Scalar) -> Scalar:
        del bus_voltage, winding
        return bounded(self.gain * (self.target - qvel) + self.voltage, -self.bound, self.bound)

    def ceiling(self, bus_voltage: Scalar) -> Scalar:
        return bus_voltage
