"""Differentiable electric-motor actuators in JAX."""

from importlib.metadata import version as _version

from ._actuator import (
    Actuator as Actuator,
    ActuatorOutput as ActuatorOutput,
    ActuatorParams as ActuatorParams,
    ActuatorState as ActuatorState,
)
from ._bench import (
    Bench as Bench,
    BenchOutput as BenchOutput,
    BenchParams as BenchParams,
    BenchState as BenchState,
)
from ._bristle import AbstractBristle as AbstractBristle, Frictionless as Frictionless
from ._cogging import AbstractCogging as AbstractCogging, NoCogging as NoCogging
from ._controller import (
    AbstractController as AbstractController,
    Demand as Demand,
    DutyDrive as DutyDrive,
    ServoDrive as ServoDrive,
    ServoDriveParams as ServoDriveParams,
    TorqueDrive as TorqueDrive,
    VoltageDrive as VoltageDrive,
)
from ._current_limit import (
    AbstractCurrentLimit as AbstractCurrentLimit,
    CurrentLimit as CurrentLimit,
    CurrentLimitParams as CurrentLimitParams,
    NoCurrentLimit as NoCurrentLimit,
)
from ._current_rate import (
    AbstractCurrentRate as AbstractCurrentRate,
    CurrentRateLimit as CurrentRateLimit,
    CurrentRateLimitParams as CurrentRateLimitParams,
    UnlimitedCurrentRate as UnlimitedCurrentRate,
)
from ._drag import (
    AbstractDrag as AbstractDrag,
    MotorSideDrag as MotorSideDrag,
    NoDrag as NoDrag,
    PolynomialDrag as PolynomialDrag,
    PolynomialDragParams as PolynomialDragParams,
    ViscousDrag as ViscousDrag,
    ViscousDragParams as ViscousDragParams,
)
from ._dry_friction import (
    AbstractDryFriction as AbstractDryFriction,
    CoulombFriction as CoulombFriction,
    CoulombFrictionParams as CoulombFrictionParams,
    NoDryFriction as NoDryFriction,
)
from ._gear import AbstractGear as AbstractGear, Gear as Gear, GearParams as GearParams
from ._input import Input as Input
from ._integrator import (
    AbstractIntegrator as AbstractIntegrator,
    Euler as Euler,
    ExactFlow as ExactFlow,
    ImplicitFast as ImplicitFast,
    Prescribed as Prescribed,
)
from ._limits import (
    AbstractLimit as AbstractLimit,
    SmoothTorqueLimit as SmoothTorqueLimit,
    SmoothTorqueLimitParams as SmoothTorqueLimitParams,
    TorqueLimit as TorqueLimit,
    TorqueLimitParams as TorqueLimitParams,
    Unlimited as Unlimited,
)
from ._load import (
    AbstractLoad as AbstractLoad,
    Pendulum as Pendulum,
    PendulumParams as PendulumParams,
    RigidLoad as RigidLoad,
    RigidLoadParams as RigidLoadParams,
    UnbalancedLoad as UnbalancedLoad,
    UnbalancedLoadParams as UnbalancedLoadParams,
)
from ._motor import (
    Motor as Motor,
    MotorOutput as MotorOutput,
    MotorParams as MotorParams,
    MotorState as MotorState,
)
from ._parameter import check_params as check_params
from ._result import Result as Result
from ._rollout import replay as replay, rollout as rollout
from ._saturation import Saturation as Saturation
from ._setpoint import AbstractSetpoint as AbstractSetpoint, NoSlew as NoSlew
from ._stage import AbstractStage as AbstractStage
from ._supply import (
    AbstractSupply as AbstractSupply,
    FixedSupply as FixedSupply,
    FixedSupplyParams as FixedSupplyParams,
    IdealSupply as IdealSupply,
)
from ._thermal import AbstractThermal as AbstractThermal, Isothermal as Isothermal
from ._winding import (
    AbstractWinding as AbstractWinding,
    FixedTimeConstant as FixedTimeConstant,
    FixedTimeConstantParams as FixedTimeConstantParams,
    Inductive as Inductive,
    InductiveParams as InductiveParams,
    QuasiStatic as QuasiStatic,
    QuasiStaticParams as QuasiStaticParams,
)

__version__ = _version("jaxmotor")
