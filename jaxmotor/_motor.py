"""The motor: volts at the terminals and shaft motion in, shaft torque out.

Order inside one step (MuJoCo's, see the DC motor note and the order of its code): resistance and heating use the
temperature and current at the start; temperature is an explicit Euler step; torque uses the current at the end; the
torque limit acts on the electrical torque, before cogging and bristle friction; the bristle's torque uses the
deflection at the start and its rate.
"""

from typing import Any

import equinox as eqx
from jaxtyping import Array, Int

from ._bristle import AbstractBristle, Frictionless
from ._cogging import AbstractCogging, NoCogging
from ._limits import AbstractLimit, Unlimited
from ._saturation import rounding
from ._stage import AbstractStage, Scalar
from ._thermal import AbstractThermal, Isothermal
from ._torque_law import AbstractTorqueLaw, ProportionalTorque
from ._winding import AbstractWinding


class MotorParams(eqx.Module):
    """Params of each stage of a `Motor`, `None` where the stage has none."""

    winding: Any
    thermal: Any = None
    limit: Any = None
    cogging: Any = None
    bristle: Any = None
    torque_law: Any = None


class MotorState(eqx.Module):
    """State of each stage of a `Motor`, `None` where the stage has none."""

    winding: Any
    thermal: Any
    cogging: Any
    bristle: Any


class MotorOutput(eqx.Module):
    """What a motor did in one step.

    - `electrical_torque` [N m]: limited torque of the current at the end of the step; `mean_electrical_torque` [N m]:
      of the current averaged over it.
    - `cogging_torque`, `bristle_torque` [N m]: at the shaft, from the state at the start.
    - `current` [A], `temperature` [degC] or `None`, `copper_loss` [W]: at the start, just after the voltage is applied.
    - `saturation`: a `Saturation` code.
    """

    electrical_torque: Scalar
    mean_electrical_torque: Scalar
    cogging_torque: Scalar
    bristle_torque: Scalar
    current: Scalar
    temperature: Scalar | None
    copper_loss: Scalar
    saturation: Int[Array, ""]


class Motor(AbstractStage):
    """Winding, thermal model, torque limit, cogging and bristle friction; `ctrl` is the terminal voltage [V]."""

    winding: AbstractWinding
    thermal: AbstractThermal = Isothermal()
    limit: AbstractLimit = Unlimited()
    cogging: AbstractCogging = NoCogging()
    bristle: AbstractBristle = Frictionless()
    torque_law: AbstractTorqueLaw = ProportionalTorque()

    def init(self, params: MotorParams) -> MotorState:
        return MotorState(
            self.winding.init(params.winding),
            self.thermal.init(params.thermal),
            self.cogging.init(params.cogging),
            self.bristle.init(params.bristle),
        )

    def hot_winding(self, state: MotorState, params: MotorParams) -> Any:
        """The winding's params at the present temperature."""
        return self.thermal.heated(state.thermal, params.thermal, params.winding)

    def step(
        self, state: MotorState, params: MotorParams, ctrl: Scalar, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[MotorState, MotorOutput]:
        winding = self.hot_winding(state, params)
        current = self.winding.current(state.winding, winding, ctrl, qvel)
        copper_loss = winding.resistance * current**2
        temperature = self.thermal.temperature(state.thermal, params.thermal)
        thermal_state, _ = self.thermal.step(state.thermal, params.thermal, copper_loss, qpos, qvel, dt)
        winding_state, currents = self.winding.step(state.winding, winding, ctrl, qpos, qvel, dt)

        back_emf = winding.back_emf_constant * qvel
        carried = rounding(ctrl, back_emf) * winding.torque_constant / winding.resistance

        def torque(current):
            made = self.torque_law.torque(params.torque_law, winding.torque_constant, current)
            return self.limit.apply(params.limit, made, carried)

        limited, mean = torque(currents.end_current), torque(currents.mean_current)
        cogging_state, cogging = self.cogging.step(state.cogging, params.cogging, None, qpos, qvel, dt)
        bristle_state, bristle = self.bristle.step(state.bristle, params.bristle, None, qpos, qvel, dt)
        return MotorState(winding_state, thermal_state, cogging_state, bristle_state), MotorOutput(
            limited.torque,
            mean.torque,
            cogging,
            bristle,
            current,
            temperature,
            copper_loss,
            limited.saturation,
        )
