"""From joints to motors and back: gears and couplings as one matrix.

w = T u, tau_joint = T' tau_motor, and the rotors add T' J T to the joints' inertia (RaiSim, "Couplings"). Row k of T
holds the gear ratio of actuator k at the joint that it drives, and a coupling ratio at every other joint that its
motor turns with. Power is the same on both sides: tau_motor · w = tau_joint · u.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

Matrix = Float[Array, "actuators joints"]


class Transmission(eqx.Module):
    """Which joint each actuator drives (`driven`), and the pairs (actuator, joint) that are coupled besides."""

    joints: int = eqx.field(static=True)
    driven: tuple[int, ...] = eqx.field(static=True)
    coupled: tuple[tuple[int, int], ...] = eqx.field(static=True, default=())

    def matrix(self, gear_ratio: Float[Array, " actuators"], coupling_ratio: Float[Array, " couplings"]) -> Matrix:
        """T [1]."""
        rows, columns = self._pairs(coupling_ratio.shape[0])
        empty = jnp.zeros((len(self.driven), self.joints), gear_ratio.dtype)
        geared = empty.at[np.arange(len(self.driven)), np.array(self.driven, int)].set(gear_ratio)
        return geared.at[rows, columns].set(coupling_ratio)

    def at_driven_joints(self, per_actuator: Float[Array, " actuators"]) -> Float[Array, " joints"]:
        """A value of each actuator, put at the joint that it drives; zero elsewhere."""
        return jnp.zeros(self.joints, per_actuator.dtype).at[np.array(self.driven, int)].set(per_actuator)

    def of_driven_joints(self, per_joint: Float[Array, " joints"]) -> Float[Array, " actuators"]:
        """The value at the joint that each actuator drives."""
        return per_joint[np.array(self.driven, int)]

    def _pairs(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        pairs = np.array(self.coupled, int).reshape(count, 2)
        return pairs[:, 0], pairs[:, 1]


def to_motors(matrix: Matrix, per_joint: Float[Array, " joints"]) -> Float[Array, " actuators"]:
    """Motor speeds [rad/s] of joint speeds, or motor angles of joint angles."""
    return jnp.matmul(matrix, per_joint, precision="highest")


def to_joints(matrix: Matrix, motor_torque: Float[Array, " actuators"]) -> Float[Array, " joints"]:
    """Joint torques [N m] of motor torques."""
    return jnp.matmul(motor_torque, matrix, precision="highest")
