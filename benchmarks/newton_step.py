"""One step of Newton's actuator on the CPU beside the library's: a PD loop within the torque-speed line of a DC motor.

    python benchmarks/newton_step.py [--motors N] [--steps N]

Needs `newton` (and with it `warp-lang`), which nothing else here does; without it only the library is measured. Both
compute the same torques, in float32: Newton writes them into an array of its own, one launch of a kernel per part;
the library's steps are one compiled loop, whose torques are summed so that none can be left out.
"""

import argparse
import importlib.util
import time

import jax
import jax.numpy as jnp
import numpy as np

import jaxmotor as jm

STALL, NO_LOAD, PEAK, STIFFNESS, DAMPING, DT = 20.0, 30.0, 12.0, 40.0, 1.5, 1e-3


def states(motors):
    """Angles [rad], speeds [rad/s] and targets [rad], (motors,) each."""
    generator = np.random.default_rng(0)
    return [generator.uniform(-a, a, motors).astype(np.float32) for a in (1.0, 40.0, 1.0)]


def library(motors, steps):
    """Nanoseconds per motor and step, and the torques [N m]."""
    actuator = jm.Actuator(jm.Motor(jm.QuasiStatic(), limit=jm.TorqueLimit()), jm.NewtonPD(), supply=jm.FixedSupply())
    # Newton's line says stall torque and no-load speed: with R = 1 ohm and Kt = 1 N m/A they are volts and back-EMF.
    one = jm.ActuatorParams(
        jm.MotorParams(jm.QuasiStaticParams(1.0, 1.0, STALL / NO_LOAD), limit=jm.TorqueLimitParams(PEAK)),
        jm.NewtonPDParams(STIFFNESS, DAMPING),
        supply=jm.FixedSupplyParams(STALL),
    )
    params = jax.tree.map(lambda x: jnp.full(motors, x, jnp.float32), one)
    position, velocity, target = (jnp.asarray(x) for x in states(motors))
    none = jnp.zeros_like(target)

    def torque(params, target):
        def single(params, *command_and_motion):
            *command, qpos, qvel = command_and_motion
            state = actuator.init(params)
            return actuator.step(state, params, tuple(command), qpos, qvel, jnp.float32(DT))[1].joint_torque

        return jax.vmap(single)(params, target, none, none, position, velocity)

    @jax.jit
    def run(params, target):
        def body(carry, _):
            moved, total = carry
            return (moved + jnp.float32(1e-6), total + torque(params, moved)), None

        return jax.lax.scan(body, (target, none), None, length=steps)[0]

    jax.block_until_ready(run(params, target))
    seconds = min(_seconds(lambda: jax.block_until_ready(run(params, target))) for _ in range(7))
    return 1e9 * seconds / motors / steps, np.asarray(torque(params, target))


def newton(motors, steps):
    """The same of Newton."""
    import warp as wp
    from newton.actuators import Actuator, ClampingDCMotor, DrivePD

    wp.config.quiet = True
    wp.init()

    def whole(value):
        return wp.array(np.full(motors, value, np.float32), device="cpu")

    with wp.ScopedDevice("cpu"):
        actuator = Actuator(
            wp.array(np.arange(motors, dtype=np.uint32), device="cpu"),
            DrivePD(kp=whole(STIFFNESS), kd=whole(DAMPING)),
            clamping=[ClampingDCMotor(whole(STALL), whole(NO_LOAD), whole(PEAK))],
        )
        position, velocity, target = (wp.array(x, device="cpu") for x in states(motors))
        state, control = actuator.sim_state(), actuator.sim_control()
        state.joint_q, state.joint_qd = position, velocity
        control.joint_target_q, control.joint_target_qd = target, wp.zeros(motors, dtype=float, device="cpu")
        control.joint_f = wp.zeros(motors, dtype=float, device="cpu")

        def run():
            for _ in range(steps):
                control.joint_f.zero_()
                actuator.step(state, control, None, None, dt=DT)

        run()
        seconds = min(_seconds(run) for _ in range(7))
        return 1e9 * seconds / motors / steps, control.joint_f.numpy()


def _seconds(call):
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--motors", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=200)
    given = parser.parse_args()
    ours, torques = library(given.motors, given.steps)
    print(f"library {ours:.2f} ns per motor and step")
    if importlib.util.find_spec("newton") is None:
        print("newton is not installed: pip install newton")
        return
    theirs, expected = newton(given.motors, given.steps)
    gap = float(np.max(np.abs(torques - expected)) / PEAK)
    print(f"newton {theirs:.2f} ns, {theirs / ours:.1f} times the library; torques differ by {gap:.1e} of the peak")


if __name__ == "__main__":
    main()
