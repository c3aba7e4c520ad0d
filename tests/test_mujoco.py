"""MuJoCo's `dcmotor` is a special case: recorded runs of 3.11 and 4.0, and runs made here beside MuJoCo 4.0."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmotor as jm
from jaxmotor import mjcf

pytestmark = pytest.mark.filterwarnings("ignore::jaxmotor.PassivityWarning", "ignore:dcmotor .* has no effect")

OPEN = [
    "o01_stateless_sat",
    "o02_gear_ctrlrange",
    "o03_current_te_large",
    "o04_current_te_small",
    "o05_current_rate_sat",
    "o06_thermal_stateless",
    "o07_thermal_current",
    "o08_lugre_soft",
    "o09_lugre_stiff",
    "o10_lugre_presliding",
    "o11_cogging_gear",
    "o12_cogging_past_sat",
    "o13_position_pid_v3",
    "o14_position_pd_current_v3",
    "o15_velocity_pi_v3",
    "o16_voltage_slew_v3",
    "o17_voltage_vmax_stateless_v3",
    "o18_torque_pid_v4",
    "o19_passive_none_v4",
    "o20_all_gear10_v3",
    "o21_all_gear10_v4",
]
CLOSED = [
    "c01_euler_drag_gear",
    "c02_implicitfast_current",
    "c03_pendulum_position_v3",
    "c04_pendulum_lugre_thermal",
    "c05_pendulum_all_v3",
    "c06_pendulum_pos_vel_v4",
]


class Golden:
    """One recorded run and the actuator that its parameters describe."""

    def __init__(self, shared, name):
        self.rows = np.load(shared / "goldens/mujoco" / f"{name}.npz")
        self.meta = json.loads(str(self.rows["meta"]))
        p = json.loads(str(self.rows["params"]))
        lugre = (p["sigma0"], p["sigma1"], p["tau_c"], p["tau_s"], p["w_s"])
        self.actuator, self.params = mjcf.dcmotor(
            resistance=p["R"],
            motorconst=p["K"],
            inductance=(0, p["te"]),
            thermal=(p["RT"], p["C"], 0, p["alpha"], p["T0"], p["Ta"]),
            saturation=(p["tau_max"], 0, p["didt_max"]),
            cogging=(p["A"], p["Np"], p["phi"]),
            lugre=lugre,
            damping=(p["B1"], p["B2"], p["B3"]),
            armature=p["armature"],
            gear=p["gear"],
            input=p["input"],
            controller=(p["kp"], p["ki"], p["kd"], p["slew"], p["Imax"], p["vmax"]),
            ctrlrange=None if p["ctrl_min"] is None else (p["ctrl_min"], p["ctrl_max"]),
            mujoco="3.11" if self.meta["api"] == "v3" else "4.0",
        )
        ctrl = self.rows["ctrl"]
        self.ctrl = ctrl[:, 0] if ctrl.shape[1] == 1 else ctrl

    def float(self, dtype):
        return jax.tree.map(lambda x: x.astype(dtype), self.params)


def off(ours, theirs):
    """Largest difference, relative to the largest value of that column."""
    theirs = np.asarray(theirs)
    scale = np.max(np.abs(theirs), axis=0, initial=0.0)
    return np.max(np.abs(np.asarray(ours, float) - theirs) / np.where(scale == 0, 1.0, scale), initial=0.0)


def replayed(golden, dtype):
    actuator, params, rows = golden.actuator, golden.float(dtype), golden.rows
    ctrl, qpos, qvel = (jnp.asarray(x, dtype) for x in (golden.ctrl, rows["qpos"], rows["qvel"]))
    dt = jnp.asarray(golden.meta["timestep"], dtype)

    @jax.jit
    def run(params):
        def body(state, row):
            state, out = actuator.step(state, params, *row, dt)
            return state, (mjcf.to_act(actuator, state), out.motor_torque, out.joint_torque)

        start = mjcf.from_act(actuator, params, rows["act"][0])
        return jax.lax.scan(body, start, (ctrl, qpos, qvel))[1]

    return run(params)


@pytest.mark.parametrize("name", OPEN)
def test_recorded_motion(shared, name):
    golden = Golden(shared, name)
    rows = golden.rows
    for dtype, within in ((jnp.float64, 1e-12), (jnp.float32, 1e-5)):
        act, force, joint = replayed(golden, dtype)
        assert force.dtype == dtype
        assert off(force, rows["actuator_force"]) < within
        assert off(joint, rows["qfrc_actuator"]) < within
        assert act.shape == rows["act"][1:].shape
        assert off(act, rows["act"][1:]) < within


@pytest.mark.parametrize("name", CLOSED)
def test_recorded_closed_loop(shared, name):
    golden = Golden(shared, name)
    rows, plant = golden.rows, golden.meta["plant"]
    integrator = {"Euler": jm.Euler(), "implicitfast": jm.ImplicitFast()}[golden.meta["integrator"]]
    bench = jm.Bench(golden.actuator, jm.Pendulum(), integrator)
    load = jm.PendulumParams(
        mass=plant["mass"],
        length=plant["com"],
        inertia=plant["inertia"],
        damping=plant["joint_damping"],
        gravity=plant["gravity"],
    )
    params = jm.BenchParams(golden.params, load)

    @jax.jit
    def run(params):
        def body(state, ctrl):
            after, out = bench.step(state, params, ctrl, jnp.asarray(golden.meta["timestep"]))
            act = mjcf.to_act(golden.actuator, after.actuator)
            return after, (act, after.qpos, after.qvel, out.motor_torque)

        start = bench.init(params, rows["qpos"][0], rows["qvel"][0])
        return jax.lax.scan(body, start, jnp.asarray(golden.ctrl))[1]

    act, qpos, qvel, force = run(params)
    assert off(qpos, rows["qpos"][1:]) < 1e-9
    assert off(qvel, rows["qvel"][1:]) < 1e-9
    assert off(force, rows["actuator_force"]) < 1e-9
    assert off(act, rows["act"][1:]) < 1e-9


# Live: structures are drawn, each with several sets of numbers that share one compiled replay.
STRUCTURES, SETS, STEPS, STEP = 38, 8, 100, 0.001
INPUTS = ["voltage", "none", "pos", "vel", "ff", "pos vel", "pos ff", "vel ff voltage", "pos vel ff voltage"]


def drawn_structure(rng):
    keys = ("lag", "rate", "thermal", "lugre", "cogging", "peak", "range", "slew", "integral", "windup", "limit")
    on = {key: bool(rng.integers(2)) for key in keys}
    on["input"] = str(rng.choice(INPUTS))
    return on


def drawn_attributes(rng, on):
    """Attributes of one motor with these parts on."""

    def between(low, high):
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))

    loop = on["input"] not in ("voltage", "none")
    coulomb = between(0.005, 0.05)
    given = {
        "resistance": (between(0.5, 5),),
        "motorconst": (between(0.02, 0.1),),
        "gear": (float(rng.choice([-1, 1])) * between(0.5, 30),),
    }
    if on["lag"]:
        given["inductance"] = (between(1e-5, 1e-2),) if on["peak"] else (0.0, between(1e-5, 1e-2))
    if on["peak"] or on["rate"]:
        given["saturation"] = (between(0.02, 0.3) if on["peak"] else 0.0, 0.0, between(50, 500) if on["rate"] else 0.0)
    if on["thermal"]:
        given["thermal"] = (between(2, 20), between(0.05, 2), 0.0, 0.0039, 25.0, float(rng.uniform(-10, 50)))
    if on["lugre"]:
        stiction = coulomb * float(rng.uniform(1, 2))
        given["lugre"] = (between(10, 1e5), between(1e-3, 1), coulomb, stiction, between(0.05, 2))
    if on["cogging"]:
        given["cogging"] = (float(rng.uniform(-0.02, 0.02)), float(rng.integers(1, 20)), float(rng.uniform(-3, 3)))
    if on["range"]:
        given["ctrlrange"] = (-between(0.1, 10), between(0.1, 10))
    if loop:
        integral = on["integral"] and "pos" in on["input"]
        given["controller"] = (
            between(0.05, 1),
            between(0.1, 2) if integral else 0.0,
            between(1e-3, 0.05),
            between(5, 100) if on["slew"] else 0.0,
            between(1e-3, 0.1) if integral and on["windup"] else 0.0,
            between(5, 24) if on["limit"] else 0.0,
        )
    return given


MODEL = """<mujoco><option timestep="{step}"/><worldbody><body><joint name="j" type="hinge" axis="0 1 0"/>
<inertial pos="0 0 0" mass="1" diaginertia="1e6 1e6 1e6"/></body></worldbody><actuator>{motor}</actuator></mujoco>"""


def element(given, **words):
    numbers = {key: " ".join(repr(x) for x in values) for key, values in given.items()}
    return "<dcmotor " + " ".join(f'{key}="{value}"' for key, value in (numbers | words).items()) + "/>"


def simulated(mujoco, model, ctrl, qpos, qvel):
    data = mujoco.MjData(model)
    force, act = np.zeros(len(qpos)), np.zeros((len(qpos), model.na))
    for k in range(len(qpos)):
        data.qpos[0], data.qvel[0] = qpos[k], qvel[k]
        data.ctrl[:] = ctrl[k]
        mujoco.mj_step(model, data)
        force[k], act[k] = data.actuator_force[0], data.act
    return force, act


PENDULUM = """<mujoco><option timestep="0.001" integrator="{integrator}"/><worldbody><body>
<joint name="j" type="hinge" axis="0 1 0" damping="0.01"/>
<inertial pos="0 0 -0.15" mass="0.5" diaginertia="0.005 0.005 0.005"/></body></worldbody>
<actuator>{motor}</actuator></mujoco>"""


@pytest.mark.parametrize("lagging", [False, True])
@pytest.mark.parametrize(("name", "integrator"), [("Euler", jm.Euler()), ("implicitfast", jm.ImplicitFast())])
def test_pendulum_beside_mujoco(name, integrator, lagging):
    mujoco = pytest.importorskip("mujoco", reason="the mujoco extra is not installed")
    given = {
        "resistance": (2.0,),
        "motorconst": (0.05,),
        "gear": (-7.0,),
        "inductance": (0.0, 0.002 if lagging else 0.0),
        "thermal": (8.0, 0.5, 0.0, 0.0039, 25.0, 35.0),
        "saturation": (0.08, 0.0, 250.0),
        "cogging": (0.004, 12.0, 0.4),
        "lugre": (150.0, 0.02, 0.01, 0.015, 0.5),
        "damping": (1e-5, 1e-6, 1e-7),
        "armature": (1e-5,),
        "controller": (0.08, 0.2, 0.003, 30.0, 0.2, 12.0),
    }
    motor = element(given, name="m", joint="j", input="pos vel")
    model = mujoco.MjModel.from_xml_string(PENDULUM.format(integrator=name, motor=motor))
    data = mujoco.MjData(model)
    rows = 0.01 * np.arange(1000)
    commands, theirs = np.stack([8 * np.sin(rows), np.cos(rows)], axis=1), []
    for command in commands:
        data.ctrl[:] = command
        theirs.append((data.qpos[0], data.qvel[0]))
        mujoco.mj_step(model, data)
        theirs[-1] += (data.actuator_force[0],)
    actuator, params = mjcf.load(model, "m")
    bench = jm.Bench(actuator, jm.Pendulum(), integrator)
    load = jm.PendulumParams(mass=0.5, length=0.15, inertia=0.005, damping=0.01)
    bench_params = jm.BenchParams(params, load)
    _, outs = jm.rollout(bench, bench.init(bench_params), bench_params, commands, 1e-3)
    ours = np.stack([outs.qpos, outs.qvel, outs.actuator.motor_torque], axis=1)
    assert off(ours, np.array(theirs)) < 1e-10


@pytest.mark.parametrize("seed", range(STRUCTURES))
def test_beside_mujoco(seed):
    mujoco = pytest.importorskip("mujoco", reason="the mujoco extra is not installed")
    rng = np.random.default_rng(seed)
    on = drawn_structure(rng)
    inputs = 0 if on["input"] == "none" else len(on["input"].split())
    params, rows, recorded, actuators = [], [], [], set()
    for _ in range(SETS):
        given = drawn_attributes(rng, on)
        motor = element(given, name="m", joint="j", input=on["input"])
        model = mujoco.MjModel.from_xml_string(MODEL.format(step=STEP, motor=motor))
        actuator, loaded = mjcf.load(model, "m")
        built, by_hand = mjcf.dcmotor(**given, input=on["input"])
        assert built == actuator
        for ours, theirs in zip(jax.tree.leaves(by_hand), jax.tree.leaves(loaded), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-14)
        rests = rng.random(STEPS) < 0.2
        qvel = np.where(rests, 0.0, rng.normal(0, 10 / abs(given["gear"][0]), STEPS))
        qpos = np.cumsum(rng.normal(0, 0.1, STEPS))
        ctrl = rng.normal(0, 6 if on["input"] == "voltage" else 1, (STEPS, inputs))
        recorded.append(simulated(mujoco, model, ctrl, qpos, qvel))
        rows.append((ctrl[:, 0] if inputs == 1 else ctrl, qpos, qvel))
        params.append(loaded)
        actuators.add(actuator)
    (actuator,) = actuators

    @jax.jit
    @jax.vmap
    def run(params, rows):
        def body(state, row):
            state, out = actuator.step(state, params, *row, jnp.asarray(STEP))
            return state, (out.motor_torque, mjcf.to_act(actuator, state))

        return jax.lax.scan(body, actuator.init(params), rows)[1]

    force, act = run(jax.tree.map(lambda *x: jnp.stack(x), *params), jax.tree.map(lambda *x: jnp.stack(x), *rows))
    for k, (their_force, their_act) in enumerate(recorded):
        assert off(force[k], their_force) < 1e-12
        assert act[k].shape == their_act.shape
        assert off(act[k], their_act) < 1e-12
