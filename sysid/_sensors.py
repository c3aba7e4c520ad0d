"""How a bench is read and commanded: what lies between the motor and the numbers in a log."""

import equinox as eqx

from jaxmotor._parameter import Parameter, nonnegative, positive, real


class Sensors(eqx.Module):
    """Errors of the sensors and of the command path, all neutral by default.

    `current_offset` [A] and `current_gain` [1]: measured = gain x true + offset; `velocity_offset` [rad/s];
    `torque_offset` [N m]: added to the torque command; `delay` [s]: how much later than its row a command acts; `lag`
    [s]: time constant of a first-order lag behind it.
    """

    current_offset: Parameter = real("A", default=0.0)
    current_gain: Parameter = positive("1", default=1.0)
    velocity_offset: Parameter = real("rad/s", default=0.0)
    torque_offset: Parameter = real("N m", default=0.0)
    delay: Parameter = nonnegative("s", default=0.0)
    lag: Parameter = nonnegative("s", default=0.0)
