"""Properties that hold for every motor: symmetry, sides of a gear, order of actuators, batches, passivity, extremes."""

import functools
import itertools
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import jaxmotor as jm
from jaxmotor import urdf

from .stage_example import floats
from .stage_examples import every_example, examples

_WINDINGS, _FRICTIONS = ("QuasiStatic", "Inductive"), ("none", "Coulomb", "Dahl")
_STRUCTURES = list(itertools.product(_WINDINGS, _FRICTIONS))
_STEP, _ROWS = 1e-3, 60


def _between(low, high):
    return st.floats(math.log10(low), math.log10(high)).map(lambda power: 10.0**power)


_MOTORS = st.fixed_dictionaries(
    {
        "resistance": _between(0.1, 20),
        "constant": _between(5e-3, 0.5),
        "inertia": _between(1e-5, 1e-2),
        "damping": _between(1e-7, 1e-4),
        "friction": _between(1e-4, 1e-1),
        "rotor": _between(1e-7, 1e-4),
        "gear": st.sampled_from([1.0, -1.0, 3.0, 9.0, -50.0]),
    }
)
_VOLTS = st.lists(st.floats(-24, 24), min_size=3, max_size=3)


def _bench(winding, friction):
    wound = {"QuasiStatic": jm.QuasiStatic, "Inductive": jm.Inductive}[winding]()
    bristle = {"bristle": jm.Dahl()} if friction == "Dahl" else {}
    dry = {"dry_friction": jm.CoulombFriction()} if friction == "Coulomb" else {}
    return jm.Bench(
        jm.Actuator(jm.Motor(wound, **bristle), jm.VoltageDrive(), drag=jm.ViscousDrag(), **dry), jm.RigidLoad()
    )


def _params(winding, friction, motor, inertia=None):
    numbers = (motor["resistance"], motor["constant"], motor["constant"])
    wound = jm.InductiveParams(*numbers, 1e-3) if winding == "Inductive" else jm.QuasiStaticParams(*numbers)
    bristle = {"bristle": jm.DahlParams(50.0, motor["friction"])} if friction == "Dahl" else {}
    dry = {"dry_friction": jm.CoulombFrictionParams(motor["friction"])} if friction == "Coulomb" else {}
    actuator = jm.ActuatorParams(
        jm.MotorParams(wound, **bristle),
        gear=jm.GearParams(motor["gear"], motor["rotor"]),
        drag=jm.ViscousDragParams(motor["damping"]),
        **dry,
    )
    params = jm.BenchParams(actuator, jm.RigidLoadParams(inertia or motor["inertia"]))
    return jax.tree.map(lambda x: jnp.asarray(x, dtype=float), params)


@functools.cache
def _program(structure):
    bench = _bench(*structure)

    def run(params, volts, speed):
        state = bench.init(params, qvel=speed)
        _, out = jm.rollout(bench, state, params, volts, _STEP)
        return out.qvel, out.qpos, out.actuator.current

    return jax.jit(run)


def _run(structure, params, volts, speed=0.0):
    held = jnp.repeat(jnp.asarray(volts, dtype=float), _ROWS // len(volts))
    return [np.asarray(part) for part in _program(structure)(params, held, jnp.asarray(speed, dtype=float))]


def _close(got, expected, digits=1e-9):
    for one, other in zip(got, expected, strict=True):
        assert np.all(np.isfinite(one))
        np.testing.assert_allclose(one, other, rtol=digits, atol=digits * (1e-12 + np.abs(other).max()))


@pytest.mark.parametrize("structure", _STRUCTURES, ids="-".join)
@given(motor=_MOTORS, volts=_VOLTS, speed=st.floats(-100, 100))
@settings(max_examples=25, derandomize=True)
def test_the_opposite_command_and_motion_give_the_opposite(structure, motor, volts, speed):
    params = _params(*structure, motor)
    there = _run(structure, params, volts, speed)
    back = _run(structure, params, [-v for v in volts], -speed)
    _close([-part for part in back], there)


@pytest.mark.parametrize("winding", _WINDINGS)
@given(motor=_MOTORS, volts=_VOLTS)
@settings(max_examples=25, derandomize=True)
def test_a_gear_is_a_motor_of_other_constants(winding, motor, volts):
    """What the gear hides: constants times its ratio, damping and rotor inertia times its square."""
    structure, ratio = (winding, "none"), motor["gear"]
    direct = motor | {"gear": 1.0, "rotor": 0.0, "constant": motor["constant"] * abs(ratio), "damping": 0.0}
    inertia = motor["inertia"] + motor["rotor"] * ratio**2
    geared = _run(structure, _params(*structure, motor | {"damping": 0.0}), volts)
    other = _run(structure, _params(*structure, direct, inertia), [v * math.copysign(1, ratio) for v in volts])
    _close(geared[:2], other[:2], 1e-8)
    _close([geared[2] * math.copysign(1, ratio)], [other[2]], 1e-8)


@pytest.mark.parametrize("structure", _STRUCTURES, ids="-".join)
@given(motors=st.lists(_MOTORS, min_size=3, max_size=3), volts=_VOLTS)
@settings(max_examples=8, derandomize=True)
def test_a_batch_is_a_loop(structure, motors, volts):
    rows = [_params(*structure, motor) for motor in motors]
    batch = jax.tree.map(lambda *parts: jnp.stack(parts), *rows)
    held = jnp.repeat(jnp.asarray(volts, dtype=float), _ROWS // 3)
    together = _batched(structure)(batch, held, jnp.zeros(()))
    for k, row in enumerate(rows):
        _close([np.asarray(part[k]) for part in together], _run(structure, row, volts), 1e-10)


@functools.cache
def _batched(structure):
    return jax.jit(jax.vmap(_program(structure), in_axes=(0, None, None)))


@pytest.mark.parametrize("structure", _STRUCTURES[:2] + _STRUCTURES[3:5], ids="-".join)
@given(motor=_MOTORS, speed=st.floats(-500, 500))
@settings(max_examples=25, derandomize=True)
def test_a_shorted_motor_only_slows(structure, motor, speed):
    """The energy of the shaft and of the inductance never grows."""
    speeds, _, currents = _run(structure, _params(*structure, motor), [0.0, 0.0, 0.0], speed)
    inertia = motor["inertia"] + motor["rotor"] * motor["gear"] ** 2
    energy = inertia * speeds**2 / 2 + (1e-3 * currents**2 / 2 if structure[0] == "Inductive" else 0.0)
    before = np.concatenate([[inertia * speed**2 / 2], energy[:-1]])
    assert np.all(energy <= before * (1 + 1e-9) + 1e-12 * (1e-9 + before[0]))


_MOTOR = '<motor resistance="{}" torque_constant="0.06" velocity_constant="{}" bus_voltage="36" peak_torque="{}"/>'


@functools.cache
def _robot(order):
    names = ("hip", "knee", "ankle", "toe")
    joints = "".join(f'<joint name="{name}" type="revolute"/>' for name in names)
    motors = [_MOTOR.format(0.2 + 0.1 * k, 14 + k, 2 + k) for k in range(4)]
    elements = [
        f'<actuator joint="{name}" name="{name}" gear_ratio="{3 + k}">{motors[k]}</actuator>'
        for k, name in enumerate(names)
    ]
    group, params = urdf.loads(f'<robot name="leg">{joints}{"".join(elements[k] for k in order)}</robot>')
    return jax.jit(lambda *row: group.step(group.init(params), params, *row, 1e-3)[1])


@given(
    order=st.sampled_from([(1, 0, 3, 2), (3, 2, 1, 0), (2, 3, 0, 1)]),
    ctrl=st.lists(st.floats(-50, 50), min_size=4, max_size=4),
    qvel=st.lists(st.floats(-30, 30), min_size=4, max_size=4),
)
@settings(max_examples=25, derandomize=True)
def test_the_order_of_actuators_does_not_matter(order, ctrl, qvel):
    ctrl, qvel, qpos = np.array(ctrl), np.array(qvel), np.zeros(4)
    straight = _robot((0, 1, 2, 3))(ctrl, qpos, qvel)
    mixed = _robot(order)(ctrl[list(order)], qpos, qvel)
    _close([np.asarray(mixed.joint_torque)], [np.asarray(straight.joint_torque)], 1e-12)


@pytest.mark.parametrize("dtype", [pytest.param(jnp.float32, marks=pytest.mark.slow), jnp.float64], ids=["32", "64"])
@pytest.mark.parametrize(("cls", "index"), every_example(), ids=lambda x: getattr(x, "__name__", str(x)))
def test_extreme_inputs_never_make_a_nan(cls, index, dtype):
    """Commands, positions and speeds of both signs, from denormal to 1e30 (1e12 in single precision, where the cube of
    a speed overflows soon after), steps from 1e-7 to 0.1 s; infinite is allowed."""
    example = examples()[cls][index]
    arguments = example.arguments(dtype)
    largest, denormal = (1e30, 1e-310) if dtype == jnp.float64 else (1e12, 1e-40)
    scales = [0.0, denormal, 1e-30, 1e-15, 1e-5, 1e5, 0.1 * largest, largest, -largest, -1e-30]

    def run(scale, other, step):
        state, params, ctrl, qpos, qvel, _ = _scaled(example, arguments, scale, other)
        return floats(example.call(example.module, state, params, ctrl, qpos, qvel, step))

    triples = _grid([scales, scales, [1e-7, example.dt, 0.1]], dtype)
    values = np.asarray(jax.jit(jax.vmap(run))(*triples))
    bad = np.isnan(values).any(1)
    assert not bad.any(), [tuple(map(float, triples[:, k])) for k in np.nonzero(bad)[0]][:3]


def _scaled(example, arguments, scale, other):
    """The arguments with the command times `scale`, angle and speed times `other`."""
    state, params, ctrl, qpos, qvel, dt = arguments
    times = jax.tree.map(lambda x: x * scale if jnp.issubdtype(x.dtype, jnp.floating) else x, ctrl)
    return state, params, ctrl if example.steady else times, qpos * other, qvel * other, dt


def _grid(axes, dtype):
    return jnp.stack([part.ravel() for part in jnp.meshgrid(*(jnp.asarray(axis, dtype) for axis in axes))])


@pytest.mark.slow
@pytest.mark.parametrize(("cls", "index"), every_example(), ids=lambda x: getattr(x, "__name__", str(x)))
def test_gradients_at_extreme_inputs_are_finite(cls, index):
    """In every float that goes in, state and params too, from denormal inputs to 1e15."""
    example = examples()[cls][index]
    scales = [0.0, 1e-310, 1e-30, 1e-5, 1e5, 1e15, -1e15, -1e-30]

    def outputs(x, unravel, static):
        return floats(example.call(example.module, *eqx.combine(unravel(x), static)))

    def slopes(scale, other):
        dynamic, static = eqx.partition(
            _scaled(example, example.arguments(), scale, other), lambda x: jnp.issubdtype(x.dtype, jnp.floating)
        )
        x, unravel = jax.flatten_util.ravel_pytree(dynamic)
        return jax.jacfwd(outputs)(x, unravel, static)

    pairs = _grid([scales, scales], jnp.float64)
    bad = ~np.isfinite(np.asarray(jax.jit(jax.vmap(slopes))(*pairs))).all((1, 2))
    assert not bad.any(), [tuple(map(float, pairs[:, k])) for k in np.nonzero(bad)[0]][:3]
