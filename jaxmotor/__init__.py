"""Differentiable electric-motor actuators in JAX."""

from importlib.metadata import version as _version

from ._actuator import (
    Actuator as Actuator,
    ActuatorOutput as ActuatorOutput,
    ActuatorParams as ActuatorParams,
    ActuatorState as ActuatorState,
)
from ._backlash import (
    Backlash as Backlash,
    BacklashParams as BacklashParams,
    BacklashState as BacklashState,
)
from ._battery import Battery as Battery, BatteryParams as BatteryParams
from ._bench import (
    Bench as Bench,
    BenchOutput as BenchOutput,
    BenchParams as BenchParams,
    BenchState as BenchState,
)
from ._bristle import AbstractBristle as AbstractBristle, Frictionless as Frictionless
from ._bristle_motion import (
    BristleState as BristleState,
)
from ._bus import SeparateBuses as SeparateBuses, SharedBattery as SharedBattery
from ._cogging import (
    AbstractCogging as AbstractCogging,
    Cogging as Cogging,
    CoggingParams as CoggingParams,
    NoCogging as NoCogging,
)
from ._controller import (
    AbstractController as AbstractController,
    Demand as Demand,
    DutyDrive as DutyDrive,
    ServoDrive as ServoDrive,
    ServoDriveParams as ServoDriveParams,
    ShortedDrive as ShortedDrive,
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
from ._dahl import (
    Dahl as Dahl,
    DahlParams as DahlParams,
)
from ._datasheet import (
    from_datasheet as from_datasheet,
)
from ._datasheet_numbers import (
    DatasheetWarning as DatasheetWarning,
)
from ._decay import (
    AbstractDecay as AbstractDecay,
    GaussianDecay as GaussianDecay,
    NoDecay as NoDecay,
    PowerDecay as PowerDecay,
    PowerDecayParams as PowerDecayParams,
)
from ._delay import (
    Delay as Delay,
    DelayParams as DelayParams,
    DelayState as DelayState,
)
from ._derated_current_limit import (
    DeratedCurrentLimit as DeratedCurrentLimit,
    DeratedCurrentLimitParams as DeratedCurrentLimitParams,
)
from ._description import (
    ActuatorDescription as ActuatorDescription,
    Coupling as Coupling,
    JointDescription as JointDescription,
    MotorDescription as MotorDescription,
    MountedActuator as MountedActuator,
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
from ._enforcement import Enforced as Enforced, Monitored as Monitored
from ._engine_numbers import to_isaaclab as to_isaaclab, to_newton as to_newton
from ._gains import (
    convert_gains as convert_gains,
)
from ._gear import AbstractGear as AbstractGear, Gear as Gear, GearParams as GearParams
from ._group import (
    ActuatorGroup as ActuatorGroup,
    GroupOutput as GroupOutput,
    GroupParams as GroupParams,
    GroupState as GroupState,
)
from ._group_build import group_of as group_of
from ._input import Input as Input
from ._integral import (
    AbstractIntegral as AbstractIntegral,
    AbstractIntegralBound as AbstractIntegralBound,
    ErrorIntegral as ErrorIntegral,
    FollowingIntegral as FollowingIntegral,
    FollowingIntegralParams as FollowingIntegralParams,
    IntegralBound as IntegralBound,
    IntegralBoundParams as IntegralBoundParams,
    IntegralParams as IntegralParams,
    IntegralState as IntegralState,
    NoIntegral as NoIntegral,
    NoIntegralBound as NoIntegralBound,
    TargetIntegral as TargetIntegral,
)
from ._integrator import (
    AbstractIntegrator as AbstractIntegrator,
    Euler as Euler,
    ExactFlow as ExactFlow,
    ImplicitFast as ImplicitFast,
    Prescribed as Prescribed,
)
from ._lagged_sag import (
    SagParams as SagParams,
    SupplyCurrentSag as SupplyCurrentSag,
    TorqueSag as TorqueSag,
    WindingCurrentSag as WindingCurrentSag,
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
from ._load_dependent_friction import (
    LoadDependentFriction as LoadDependentFriction,
    LoadDependentFrictionParams as LoadDependentFrictionParams,
)
from ._load_friction import (
    AbstractLoadFriction as AbstractLoadFriction,
    DirectionalLoadFriction as DirectionalLoadFriction,
    DirectionalLoadFrictionParams as DirectionalLoadFrictionParams,
    NoLoadFriction as NoLoadFriction,
    QuadraticLoadFriction as QuadraticLoadFriction,
    QuadraticLoadFrictionParams as QuadraticLoadFrictionParams,
    SymmetricLoadFriction as SymmetricLoadFriction,
    SymmetricLoadFrictionParams as SymmetricLoadFrictionParams,
)
from ._lossy_gear import (
    LossyGear as LossyGear,
    LossyGearParams as LossyGearParams,
)
from ._lugre import (
    LuGre as LuGre,
    LuGreParams as LuGreParams,
)
from ._lumped_thermal import (
    LumpedThermal as LumpedThermal,
    LumpedThermalParams as LumpedThermalParams,
    LumpedThermalState as LumpedThermalState,
)
from ._motor import (
    Motor as Motor,
    MotorOutput as MotorOutput,
    MotorParams as MotorParams,
    MotorState as MotorState,
)
from ._motor_figures import (
    MotorFigures as MotorFigures,
    motor_figures as motor_figures,
)
from ._newton import (
    newton_dc_clamp as newton_dc_clamp,
    newton_motor_dc as newton_motor_dc,
    position_based_limit as position_based_limit,
)
from ._newton_drive import (
    NewtonDelay as NewtonDelay,
    NewtonDelayParams as NewtonDelayParams,
    NewtonPD as NewtonPD,
    NewtonPDParams as NewtonPDParams,
    NewtonPID as NewtonPID,
    NewtonPIDParams as NewtonPIDParams,
)
from ._parameter import check_params as check_params
from ._passivity import (
    PassivityWarning as PassivityWarning,
    check_lugre as check_lugre,
    passive_damping as passive_damping,
)
from ._position_pid import (
    PositionPID as PositionPID,
    PositionPIDParams as PositionPIDParams,
)
from ._region import OperatingRegion as OperatingRegion, TorqueBounds as TorqueBounds
from ._result import Result as Result
from ._rollout import advance as advance, replay as replay, rollout as rollout
from ._saturation import Saturation as Saturation
from ._setpoint import (
    AbstractSetpoint as AbstractSetpoint,
    CommandRange as CommandRange,
    CommandRangeParams as CommandRangeParams,
    NoSlew as NoSlew,
    SetpointChain as SetpointChain,
)
from ._slew import (
    SlewLimiter as SlewLimiter,
    SlewLimiterParams as SlewLimiterParams,
    SlewLimiterState as SlewLimiterState,
)
from ._stage import AbstractStage as AbstractStage
from ._stribeck import (
    AbstractStribeck as AbstractStribeck,
    NoStribeck as NoStribeck,
    Stribeck as Stribeck,
    StribeckParams as StribeckParams,
)
from ._supply import (
    AbstractSupply as AbstractSupply,
    FixedSupply as FixedSupply,
    FixedSupplyParams as FixedSupplyParams,
    IdealSupply as IdealSupply,
)
from ._thermal import AbstractThermal as AbstractThermal, Isothermal as Isothermal
from ._torque_law import (
    AbstractTorqueLaw as AbstractTorqueLaw,
    ProportionalTorque as ProportionalTorque,
    SaturatingTorque as SaturatingTorque,
    SaturatingTorqueParams as SaturatingTorqueParams,
)
from ._torque_space_pid import (
    TorqueSpacePID as TorqueSpacePID,
    TorqueSpacePIDParams as TorqueSpacePIDParams,
)
from ._two_node_thermal import (
    TwoNodeThermal as TwoNodeThermal,
    TwoNodeThermalParams as TwoNodeThermalParams,
    TwoNodeThermalState as TwoNodeThermalState,
)
from ._velocity_pi import (
    VelocityPI as VelocityPI,
    VelocityPIParams as VelocityPIParams,
)
from ._voltage_limit import (
    AbstractVoltageLimit as AbstractVoltageLimit,
    NoVoltageLimit as NoVoltageLimit,
    VoltageLimit as VoltageLimit,
    VoltageLimitParams as VoltageLimitParams,
)
from ._winding import (
    AbstractLaggingWinding as AbstractLaggingWinding,
    AbstractWinding as AbstractWinding,
    FixedTimeConstant as FixedTimeConstant,
    FixedTimeConstantParams as FixedTimeConstantParams,
    Inductive as Inductive,
    InductiveParams as InductiveParams,
    QuasiStatic as QuasiStatic,
    QuasiStaticParams as QuasiStaticParams,
)

__version__ = _version("jaxmotor")
