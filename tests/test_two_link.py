"""The two-link example: its mechanics from the energies, its friction from what defines it, its fit, a real machine."""

import importlib.util
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmotor as jm

PATH = pathlib.Path(__file__).parents[1] / "examples" / "two_link_pendulum.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("two_link_pendulum", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["two_link_pendulum"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["two_link_pendulum"]


def test_mechanics_follow_from_the_energies(example):
    """Lagrange: M = d2T/dv2, and torque = dL/dq - d/dt dL/dv at constant speed, with T and V from where masses are."""
    links = example.truth()[1].links

    def lagrangian(qpos, qvel):
        def centres(q):
            elbow = links.length * jnp.array([jnp.sin(q[0]), -jnp.cos(q[0])])
            first = links.reach[0] * jnp.array([jnp.sin(q[0]), -jnp.cos(q[0])])
            second = elbow + links.reach[1] * jnp.array([jnp.sin(q[0] + q[1]), -jnp.cos(q[0] + q[1])])
            return jnp.stack([first, second])

        places, moves = jax.jvp(centres, (qpos,), (qvel,))
        turns = jnp.array([qvel[0], qvel[0] + qvel[1]])
        kinetic = links.mass @ jnp.sum(moves**2, axis=1) + links.inertia @ turns**2 + links.rotor_inertia @ qvel**2
        return kinetic / 2 - 9.81 * links.mass @ places[:, 1]

    @jax.jit
    def expected(qpos, qvel):
        matrix = jax.hessian(lagrangian, 1)(qpos, qvel)
        momentum = jax.jvp(lambda q: jax.grad(lagrangian, 1)(q, qvel), (qpos,), (qvel,))[1]
        return matrix, jax.grad(lagrangian)(qpos, qvel) - momentum

    generator = np.random.default_rng(0)
    for qpos, qvel in generator.uniform(-3, 3, (5, 2, 2)):
        qpos, qvel = jnp.asarray(qpos), jnp.asarray(qvel)
        matrix, torque = expected(qpos, qvel)
        np.testing.assert_allclose(links.mass_matrix(qpos), matrix, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(links.torque(qpos, qvel), torque, rtol=1e-12, atol=1e-13)


def test_friction_of_both_joints_stops_or_opposes(example):
    """At each joint the speed after is zero inside the budget, or the impulse is at the bound that opposes it."""
    generator = np.random.default_rng(1)
    spent = jax.jit(example.spent)
    held = 0
    for _ in range(200):
        links = example.truth()[1].links
        inverse = jnp.linalg.inv(links.mass_matrix(jnp.asarray(generator.uniform(-3, 3, 2))))
        speed, bound = jnp.asarray(generator.normal(size=2)), jnp.asarray(generator.uniform(0, 0.05, 2))
        impulse = np.asarray(spent(inverse, speed, bound))
        after = np.asarray(speed) + np.asarray(inverse) @ impulse
        assert (np.abs(impulse) <= bound).all()
        for w, p, b in zip(after, impulse, np.asarray(bound), strict=True):
            assert abs(w) < 1e-3 or p == -np.sign(w) * b
        held += int((np.abs(after) < 1e-3).any())
    assert 20 < held < 180


@pytest.mark.slow
def test_the_example_finds_what_made_its_runs(example, capsys):
    told = example.main()
    mass, friction = told["mass [kg]"], told["load_friction [1]"]
    np.testing.assert_allclose(mass[1], mass[0], rtol=0.03)
    np.testing.assert_allclose(friction[1], friction[0], atol=0.015)
    assert "encoder step" in capsys.readouterr().out


AUTHORS = {
    "1.0": {"joint": (0.05472, 0.02522), "rotor": 6.0719e-5, "damping": (0.081, 0.0), "dry": (0.093, 0.186)}
    | {"mass": (0.608, 0.630), "reach": (0.275, 0.166)},
    "2.0": {"joint": (0.053471, 0.023924), "rotor": 7.6593e-5, "damping": (0.001, 0.001), "dry": (0.093, 0.078)}
    | {"mass": (0.559381, 0.604346), "reach": (0.3, 0.183769)},
}
"""Identified by the makers of the machine (model_1.0 and model_2.0 parameters beside the log), gear 6."""


def machine(example, joint, rotor, damping, dry, mass, reach):
    """An actuator whose command is the torque at its joint, and the two links; `joint`: inertia about the joint."""
    two, mass, reach = jnp.ones(2), jnp.array(mass), jnp.array(reach)
    actuator = jm.Actuator(
        jm.Motor(jm.QuasiStatic()), jm.TorqueDrive(), drag=jm.ViscousDrag(), dry_friction=jm.CoulombFriction()
    )
    params = jm.ActuatorParams(
        jm.MotorParams(jm.QuasiStaticParams(two, two, two)),
        gear=jm.GearParams(two, 0 * two),
        drag=jm.ViscousDragParams(jnp.array(damping)),
        dry_friction=jm.CoulombFrictionParams(jnp.array(dry)),
    )
    links = example.TwoLink(mass, jnp.array(0.3), reach, jnp.array(joint) - mass * reach**2, 36 * rotor * two)
    return actuator, example.Machine(params, links)


@pytest.mark.slow
def test_the_ak80_double_pendulum_is_predicted_better_than_by_its_makers_models(shared, example):
    """Fitted to the first three fifths of a run, asked for the faster rest; weights come out as the makers found."""
    table = np.genfromtxt(
        shared / "logs/real/ak80_dfki_double_pendulum/20220812-061705-PM_measured.csv", delimiter=",", skip_header=1
    )
    angles, torques, step, rows = table[:, 1:3], table[:, 5:7], 5e-3, 80
    slope = np.gradient(angles, table[:, 0], axis=0)
    speeds = np.stack([np.convolve(slope[:, k], np.ones(5) / 5, mode="same") for k in range(2)], axis=1)
    begins = np.arange(4, len(table) - rows - 4, rows)

    def stretches(firsts):
        cut = [[whole[k : k + rows] for k in firsts] for whole in (torques, angles)]
        starts = [whole[firsts] for whole in (angles, speeds)]
        return example.Run(*(jnp.asarray(np.stack(part)) for part in (*cut, *starts)))

    cut = int(0.6 * len(begins))
    known, rest = stretches(begins[:cut]), stretches(begins[cut:])

    def error(actuator, machine):
        return float(
            np.sqrt(np.mean((np.asarray(example.predicted(actuator, machine, rest, step)) - rest.angles) ** 2))
        )

    def free(machine):
        friction, drag = machine.actuators.dry_friction, machine.actuators.drag
        return [machine.links.mass, machine.links.inertia, friction.coulomb_friction, drag.viscous_damping]

    def weights(machine):
        links = machine.links
        return np.array([links.mass[0] * links.reach[0] + links.mass[1] * links.length, links.mass[1] * links.reach[1]])

    start = {"joint": (0.05, 0.02), "rotor": 6e-5, "damping": (0.02, 0.02), "dry": (0.1, 0.1)}
    actuator, begun = machine(example, **start, mass=(0.6, 0.6), reach=(0.275, 0.17))
    found = example.fitted(actuator, begun, free, known, step, 5e-3)
    for numbers in AUTHORS.values():
        _, theirs = machine(example, **numbers)
        assert error(actuator, found) < error(actuator, theirs)
        np.testing.assert_allclose(weights(found), weights(theirs), rtol=0.1)
