"""Where each motor sits in a MuJoCo model: which inputs it takes, and which joints it turns."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

PerMotor = Float[Array, "*motors"]
PerFreedom = Float[Array, " freedoms"]
PerTendon = Float[Array, " tendons"]


@dataclasses.dataclass(frozen=True)
class Wire:
    """One motor. It turns with q = sum of coefficient times joint position, a joint's own or a fixed tendon's length.

    `actuator` and `inputs`: its index among the actuators and its addresses in the control vector of the MuJoCo model;
    `tendon`: its tendon or -1; `joints`: (position address, freedom, coefficient) of each.
    """

    actuator: int
    inputs: tuple[int, ...]
    tendon: int
    joints: tuple[tuple[int, int, float], ...]


@dataclasses.dataclass(frozen=True)
class Wiring:
    """All motors of a model with so many `positions`, `freedoms` and `tendons`."""

    wires: tuple[Wire, ...]
    positions: int
    freedoms: int
    tendons: int

    def angles(self, qpos: Array) -> PerMotor:
        """Joint angle or tendon length of each motor."""
        return _weighted(self._matrix(self.positions, lambda joint: joint[0]), qpos)

    def speeds(self, qvel: Array) -> PerMotor:
        """Its rate."""
        return _weighted(self._turns(), qvel)

    def carried(self, torque: Array) -> PerMotor:
        """Share of torques on the freedoms that each motor's joint or tendon must carry; least squares for tendons."""
        turns = self._turns()
        return _weighted(turns / np.sum(turns**2, axis=1, keepdims=True), torque)

    def torques(self, per_motor: PerMotor) -> PerFreedom:
        """Torques on the freedoms."""
        return _weighted(self._turns().T, per_motor)

    def at_freedoms(self, per_motor: PerMotor) -> PerFreedom:
        """A value of each motor that drives a joint, summed at that joint's freedom; zero elsewhere."""
        chosen = np.zeros((self.freedoms, len(self.wires)))
        for k, wire in enumerate(self.wires):
            if wire.tendon < 0:
                chosen[wire.joints[0][1], k] = 1
        return _weighted(chosen, per_motor)

    def at_tendons(self, per_motor: PerMotor) -> PerTendon:
        """The same for tendons."""
        chosen = np.zeros((self.tendons, len(self.wires)))
        for k, wire in enumerate(self.wires):
            if wire.tendon >= 0:
                chosen[wire.tendon, k] = 1
        return _weighted(chosen, per_motor)

    def _turns(self) -> np.ndarray:
        return self._matrix(self.freedoms, lambda joint: joint[1])

    def _matrix(self, columns: int, column: Callable[[Any], int]) -> np.ndarray:
        matrix = np.zeros((len(self.wires), columns))
        for row, wire in enumerate(self.wires):
            for joint in wire.joints:
                matrix[row, column(joint)] += joint[2]
        return matrix


def _weighted(matrix: np.ndarray, values: Array) -> Array:
    # A sum of products merges with what is before and after it; a small matrix product is a call of its own.
    return jnp.sum(jnp.asarray(matrix, values.dtype) * values, axis=1)


def wire_of(mujoco: Any, model: Any, actuator: int, name: str) -> Wire:
    """How actuator `name` of a compiled model is wired.

    **Raises:** `ValueError` for a transmission whose lever arm is not constant.
    """
    kinds, target = mujoco.mjtTrn, int(model.actuator_trnid[actuator][0])
    kind = kinds(int(model.actuator_trntype[actuator]))
    first, count = int(model.actuator_ctrladr[actuator]), int(model.actuator_ctrlnum[actuator])
    inputs = tuple(range(first, first + count))
    if kind in (kinds.mjTRN_JOINT, kinds.mjTRN_JOINTINPARENT):
        return Wire(actuator, inputs, -1, (_joint(mujoco, model, target, 1.0, name),))
    if kind == kinds.mjTRN_TENDON:
        wraps = range(int(model.tendon_adr[target]), int(model.tendon_adr[target] + model.tendon_num[target]))
        if all(int(model.wrap_type[k]) == mujoco.mjtWrap.mjWRAP_JOINT for k in wraps):
            joints = [_joint(mujoco, model, int(model.wrap_objid[k]), float(model.wrap_prm[k]), name) for k in wraps]
            return Wire(actuator, inputs, target, tuple(joints))
    raise ValueError(f"motor {name!r} must drive a hinge, a slide or a fixed tendon of them")


def _joint(mujoco: Any, model: Any, joint: int, coefficient: float, name: str) -> tuple[int, int, float]:
    if int(model.jnt_type[joint]) not in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE):
        raise ValueError(f"motor {name!r} must drive a hinge, a slide or a fixed tendon of them")
    return int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint]), coefficient
