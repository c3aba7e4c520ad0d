"""Which actuators a group can hold, and how it reads their commands."""

from typing import Any

from ._actuator import Actuator
from ._controller import TorqueDrive
from ._dry_friction import CoulombFriction, NoDryFriction
from ._enforcement import AbstractEnforcement, Monitored
from ._gear import AbstractStiffGear
from ._load_dependent_friction import LoadDependentFriction
from ._load_friction import NoLoadFriction
from ._supply import FixedSupply


def takes_torque(actuator: Actuator) -> bool:
    """Whether its command is a torque [N m] at the output of its gear."""
    return isinstance(actuator.controller, TorqueDrive)


def check_kind(kind: Actuator, enforcement: AbstractEnforcement) -> None:
    """Refuse an actuator that a group cannot hold. **Raises:** `ValueError` naming the part and what to take."""
    if not isinstance(kind.supply, FixedSupply):
        raise ValueError(
            f"an actuator of a group needs FixedSupply, not {type(kind.supply).__name__}: a battery is given to the "
            "group, as bus=SharedBattery()"
        )
    if not isinstance(kind.gear, AbstractStiffGear):
        raise ValueError(f"couplings need stiff gears, not {type(kind.gear).__name__}: take Gear or LossyGear")
    if not _free_of_load(kind.dry_friction):
        raise ValueError(
            f"{type(kind.dry_friction).__name__} depends on the load's torque, which a group does not know: take "
            "CoulombFriction, or LoadDependentFriction without load terms"
        )
    if isinstance(enforcement, Monitored) and not takes_torque(kind):
        raise ValueError(f"monitor mode needs a commanded torque, and {type(kind.controller).__name__} takes none")


def _free_of_load(friction: Any) -> bool:
    match friction:
        case NoDryFriction() | CoulombFriction():
            return True
        case LoadDependentFriction(load=NoLoadFriction(), slow_load=NoLoadFriction(), slow_quadratic=NoLoadFriction()):
            return True
    return False
