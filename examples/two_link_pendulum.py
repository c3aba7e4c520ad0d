"""Two geared servos carry a two-link pendulum; its masses and the servos' friction are told from the angles alone.

Friction here grows with the torque that a gear carries, and what the elbow carries depends on what the shoulder does,
so both budgets are spent together: each joint stops or slides, given the other. The data are made by this script, in
steps a quarter as long as those of the fit, with the noise of a 12-bit encoder.
Run: python examples/two_link_pendulum.py
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.optimize import least_squares

import jaxmotor as jm

PerJoint = Float[Array, "2"]
GRAVITY, SWEEPS = 9.81, 12
ROWS, STEP = 800, 5e-3
FINE, FINER = 4, 16
"""Steps per row of the fit, and of the data."""

QUANTUM = 2 * np.pi / 4096


class TwoLink(eqx.Module):
    """Two links in a vertical plane: `mass` [kg] of each, `length` [m] of the first, `reach` [m] from each joint to the
    link's mass centre, `inertia` [kg m^2] about that, `rotor_inertia` [kg m^2] of each motor at its joint.

    Angles [rad]: the first from hanging straight down, the second from the line of the first.
    """

    mass: PerJoint
    length: Float[Array, ""]
    reach: PerJoint
    inertia: PerJoint
    rotor_inertia: PerJoint

    def mass_matrix(self, qpos: PerJoint) -> Float[Array, "2 2"]:
        """M(q) from the kinetic energy of both links, each rotor added at its own joint."""
        m, r, upper = self.mass, self.reach, self.length
        about = self.inertia + m * r**2
        crossed = m[1] * upper * r[1] * jnp.cos(qpos[1])
        first = about[0] + about[1] + m[1] * upper**2 + 2 * crossed
        both = about[1] + crossed
        return jnp.array([[first, both], [both, about[1]]]) + jnp.diag(self.rotor_inertia)

    def torque(self, qpos: PerJoint, qvel: PerJoint) -> PerJoint:
        """What weight and motion put on the joints [N m]: -g(q) - C(q, q') q' of Lagrange's equations."""
        m, r, upper = self.mass, self.reach, self.length
        swirl = m[1] * upper * r[1] * jnp.sin(qpos[1])
        motion = jnp.stack([swirl * (2 * qvel[0] + qvel[1]) * qvel[1], -swirl * qvel[0] ** 2])
        elbow = m[1] * r[1] * jnp.sin(qpos[0] + qpos[1])
        shoulder = (m[0] * r[0] + m[1] * upper) * jnp.sin(qpos[0]) + elbow
        return motion - GRAVITY * jnp.stack([shoulder, elbow])


class Machine(eqx.Module):
    """Params: the `actuators` of both joints, stacked, and the `links`."""

    actuators: jm.ActuatorParams
    links: TwoLink


def spent(inverse: Float[Array, "2 2"], speed: PerJoint, impulse: PerJoint) -> PerJoint:
    """Friction impulses [N m s] within +-`impulse` that stop what they can: w = speed + M^-1 p is zero at a joint, or
    its impulse is at the bound that opposes it.

    Projected Gauss-Seidel on this convex problem; each joint in turn stops itself, given the other.
    """
    diagonal = jnp.diagonal(inverse)
    found = jnp.zeros_like(speed)
    for _ in range(SWEEPS):
        for k in range(2):
            moving = speed[k] + inverse[k] @ found
            found = found.at[k].set(jnp.clip(found[k] - moving / diagonal[k], -impulse[k], impulse[k]))
    return found


def step(actuator: jm.Actuator, machine: Machine, carry: Any, command: PerJoint, dt: Any) -> Any:
    """Semi-implicit Euler of both joints by `dt` [s]; `carry` is the actuators' state, angles and speeds."""
    state, qpos, qvel = carry
    state, out = jax.vmap(actuator.step, in_axes=(0, 0, 0, 0, 0, None))(
        state, machine.actuators, command, qpos, qvel, dt
    )
    carried = machine.links.torque(qpos, qvel)
    budget = jax.vmap(actuator.dry_friction.budget)(machine.actuators.dry_friction, qvel, out.joint_torque, carried)
    inverse = jnp.linalg.inv(machine.links.mass_matrix(qpos))
    free = qvel + dt * inverse @ (out.joint_torque + out.drag_torque + carried)
    speed = free + inverse @ spent(inverse, free, dt * budget)
    return state, qpos + dt * speed, speed


def rolled(
    actuator: jm.Actuator,
    machine: Machine,
    commands: Float[Array, "time 2"],
    qpos: PerJoint,
    qvel: PerJoint,
    dt: float,
    substeps: int = 1,
) -> tuple[Float[Array, "time 2"], Float[Array, "time 2"]]:
    """Angles and speeds at the start of every row of `commands`."""

    def body(carry, command):
        after, _ = jax.lax.scan(
            lambda c, _: (step(actuator, machine, c, command, jnp.asarray(dt / substeps)), None), carry, length=substeps
        )
        return after, carry[1:]

    begun = jax.vmap(actuator.init)(machine.actuators), qpos, qvel
    return jax.lax.scan(body, begun, commands)[1]


def servos() -> tuple[jm.Actuator, jm.ActuatorParams]:
    """Two firmware servos on a stiff bus, with load-dependent friction; params stacked, shoulder first."""
    friction = jm.LoadDependentFriction(jm.SymmetricLoadFriction())
    actuator = jm.Actuator(
        jm.Motor(jm.QuasiStatic()), jm.ServoDrive(), jm.FixedSupply(), drag=jm.ViscousDrag(), dry_friction=friction
    )
    two = jnp.ones(2)
    params = jm.ActuatorParams(
        jm.MotorParams(jm.QuasiStaticParams(2.0 * two, 1.2 * two, 1.2 * two)),
        jm.ServoDriveParams(jnp.array([3.0, 2.0]), two),
        jm.FixedSupplyParams(12.0 * two),
        jm.GearParams(two, 0.0 * two),
        jm.ViscousDragParams(jnp.array([0.06, 0.04])),
        jm.LoadDependentFrictionParams(
            jnp.array([0.04, 0.03]), jm.SymmetricLoadFrictionParams(jnp.array([0.15, 0.10]))
        ),
    )
    return actuator, params


def swing_run(seed: int) -> Float[np.ndarray, "time 2"]:
    """Commanded angles [rad] of a run: two slow waves on each joint, and one in five seconds held still."""
    time = np.arange(ROWS) * STEP
    generator = np.random.default_rng(seed)
    rate, phase = generator.uniform(1.5, 5.0, (2, 2)), generator.uniform(0.0, 2 * np.pi, (2, 2))
    wave = np.sin(time[:, None, None] * rate + phase) @ np.array([0.7, 0.4])
    return np.where(time[:, None] < 0.8 * time[-1], wave, wave[int(0.8 * ROWS)])


class Run(eqx.Module):
    """Stretches of a log of one length: `commands` and measured `angles` [rad], and the motion at their first rows."""

    commands: Float[Array, "run time 2"]
    angles: Float[Array, "run time 2"]
    qpos: Float[Array, "run 2"]
    qvel: Float[Array, "run 2"]


def predicted(
    actuator: jm.Actuator, machine: Machine, run: Run, dt: float, substeps: int = FINE
) -> Float[Array, "run time 2"]:
    """Angles [rad] of every stretch, from its first row on."""
    return jax.vmap(lambda u, q, v: rolled(actuator, machine, u, q, v, dt, substeps)[0])(
        run.commands, run.qpos, run.qvel
    )


def fitted(actuator: jm.Actuator, machine: Machine, free: Any, run: Run, dt: float, noise: float) -> Machine:
    """The machine with its `free(machine)` leaves, all positive, at their least squares; they start where they are.

    Logarithms move, by SciPy's trust region on exact derivatives; residuals count linearly beyond `noise` [rad].
    """
    begun = free(machine)
    shapes = [leaf.shape for leaf in begun]
    cuts = np.cumsum([leaf.size for leaf in begun])[:-1]

    def at(logarithms):
        leaves = [jnp.exp(part).reshape(s) for part, s in zip(jnp.split(logarithms, cuts), shapes, strict=True)]
        return eqx.tree_at(free, machine, leaves)

    @jax.jit
    def off(logarithms):
        return ((predicted(actuator, at(logarithms), run, dt) - run.angles) / noise).ravel()

    slope = jax.jit(jax.jacfwd(off))
    start = np.log(np.concatenate([np.ravel(leaf) for leaf in begun]))
    found = least_squares(off, start, slope, loss="soft_l1", x_scale=1.0, max_nfev=60)
    return at(jnp.asarray(found.x))


def truth() -> tuple[jm.Actuator, Machine]:
    """The machine that makes the data."""
    actuator, params = servos()
    links = TwoLink(
        mass=jnp.array([0.8, 0.5]),
        length=jnp.array(0.25),
        reach=jnp.array([0.15, 0.12]),
        inertia=jnp.array([0.004, 0.002]),
        rotor_inertia=jnp.array([0.006, 0.004]),
    )
    return actuator, Machine(params, links)


def free(machine: Machine) -> list[Array]:
    """What the fit may move."""
    friction = machine.actuators.dry_friction
    return [
        machine.links.mass,
        friction.load.load_friction,
        friction.coulomb_friction,
        machine.actuators.drag.viscous_damping,
    ]


NAMES = ("mass [kg]", "load_friction [1]", "coulomb_friction [N m]", "viscous_damping [N m s/rad]")


def recorded(actuator: jm.Actuator, machine: Machine) -> Run:
    """Two runs from rest, read by 12-bit encoders."""
    commands = jnp.asarray(np.stack([swing_run(seed) for seed in range(2)]))
    rest = jnp.zeros((2, 2))
    angles = jax.vmap(lambda u, q, v: rolled(actuator, machine, u, q, v, STEP, FINER)[0])(commands, rest, rest)
    return Run(commands, jnp.round(angles / QUANTUM) * QUANTUM, rest, rest)


def main() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Make the runs, fit them from a poor start, and tell truth and estimate of each number."""
    actuator, machine = truth()
    run = recorded(actuator, machine)
    factors = jnp.array([1.6, 0.7])
    poor = eqx.tree_at(free, machine, [factors * leaf for leaf in free(machine)])
    found = fitted(actuator, poor, free, run, STEP, QUANTUM)
    off = np.asarray(predicted(actuator, found, run, STEP) - run.angles)
    told = {
        name: (np.asarray(true), np.asarray(estimate))
        for name, true, estimate in zip(NAMES, free(machine), free(found), strict=True)
    }
    print(f"{'':30}truth: shoulder, elbow    estimate")
    for name, (true, estimate) in told.items():
        print(f"{name:30}{true[0]:.4f} {true[1]:.4f}            {estimate[0]:.4f} {estimate[1]:.4f}")
    print(f"mean error of the angles {1e3 * np.mean(np.abs(off)):.2f} mrad, encoder step {1e3 * QUANTUM:.2f} mrad")
    return told


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    main()
