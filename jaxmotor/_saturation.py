"""What limited a torque: the codes of every `saturation` read-out."""

import enum


class Saturation(enum.IntEnum):
    """Which bound moved a request. An admissible request, also one exactly on a bound, was not moved: `NONE`."""

    NONE = 0
    PEAK_TORQUE = 1
    VOLTAGE = 2
    CURRENT = 3
