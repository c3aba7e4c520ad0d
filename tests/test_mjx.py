"""Motors beside MJX and MuJoCo's C engine: the same joint positions as `<dcmotor>`, the same as a plain `<motor>`."""

import functools

import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmotor as jm
from jaxmotor import mjcf, mjx

mujoco = pytest.importorskip("mujoco", reason="the mujoco extra is not installed")
bare = pytest.importorskip("mujoco.mjx", reason="the mujoco extra is not installed")

pytestmark = pytest.mark.filterwarnings("ignore::jaxmotor.PassivityWarning", "ignore::DeprecationWarning")

STEPS = 1000
ALL = (
    'resistance="2" motorconst="0.05" gear="-7" inductance="0 .002" thermal="8 .5 0 .0039 25 35" saturation=".08 0 250"'
    ' cogging=".004 12 .4" lugre="150 .02 .01 .015 .5" damping="1e-5 1e-6 1e-7" armature="1e-5" input="pos vel"'
    ' controller=".08 .2 .003 30 .2 12"'
)
HOT = (
    'resistance="1" motorconst=".04" gear="5" damping="1e-4 1e-5" armature="2e-5" input="voltage" thermal="5 .2 0 .004"'
)
PENDULUM = """<body pos="0 1 0"><joint name="j" axis="0 1 0" damping="0.01 0.002 0.001"/>
<inertial pos="0 0 -0.15" mass="0.5" diaginertia="0.005 0.005 0.005"/></body>"""
TWO_LINKS = """<body><joint name="{name}hip" axis="0 1 0" damping=".02"/>
<geom type="capsule" size=".02" fromto="0 0 0 0 0 -.2" mass=".6"/><body pos="0 0 -.2">
<joint name="{name}knee" axis="0 1 0" damping=".01 .001"/>
<geom type="capsule" size=".02" fromto="0 0 0 0 0 -.2" mass=".3"/></body></body>"""
BELT = '<tendon><fixed name="belt"><joint joint="hip" coef="0.6"/><joint joint="knee" coef="1"/></fixed></tendon>'
WORLD = """<mujoco><option timestep="0.001" integrator="{{integrator}}"/>
<default><geom contype="0" conaffinity="0"/></default><worldbody>{bodies}</worldbody>{tendons}
<actuator>{actuators}</actuator></mujoco>"""
PLAIN = '<motor name="plain" joint="hip" gear="2" damping=".002 .001 .0003" armature=".01" ctrlrange="-1 1"/>'
LEG = WORLD.replace("{bodies}", TWO_LINKS.format(name="")).replace("{tendons}", BELT)
MOTOR = LEG.format(actuators=PLAIN)
PENDULUM_ALONE = WORLD.format(bodies=PENDULUM, tendons="", actuators=f'<dcmotor name="m" joint="j" {ALL}/>')
# A pendulum, an arm of two links and a leg whose belt couples hip and knee, side by side: one program instead of three.
ROBOTS = WORLD.format(
    bodies=PENDULUM + TWO_LINKS.format(name="arm ") + TWO_LINKS.format(name=""),
    tendons=BELT,
    actuators=f"""<dcmotor name="m" joint="j" {ALL}/><dcmotor name="first of arm" joint="arm hip" {ALL}/>
<dcmotor name="second of arm" joint="arm knee" {HOT}/><dcmotor name="first" joint="hip" {ALL}/>{PLAIN}
<dcmotor name="second" tendon="belt" {HOT}/>""",
)
# Most of the time of these tests is compilation, so it does without what only makes programs fast.
QUICKLY_COMPILED = functools.partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})
INPUTS = [0, 1, 0, 1, 3, 0, 1, 2, 3]


@pytest.fixture(autouse=True)
def _standard_promotion():
    # MJX mixes float types and ranks.
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def commands(columns):
    t = 0.01 * np.arange(STEPS)
    waves = [8 * np.sin(t), np.cos(t), 0.5 * np.sin(2 * t), 3 * np.sin(1.3 * t)]
    return np.stack([waves[k] for k in columns], axis=1)


def in_mujoco(model, rows):
    data, qpos = mujoco.MjData(model), []
    for row in rows:
        data.ctrl[:] = row
        mujoco.mj_step(model, data)
        qpos.append(data.qpos.copy())
    return np.array(qpos)


def in_mjx(source, rows, **replaced):
    model, group, params = mjx.put_model(source, replaced)

    @QUICKLY_COMPILED
    def run(params, rows):
        def body(carry, row):
            data, state, out = mjx.step(model, carry[0], group, params, carry[1], row)
            return (data, state), (data.qpos, out)

        return jax.lax.scan(body, mjx.reset(model, group, params), rows)[1]

    qpos, out = run(params, jnp.asarray(rows, model.qpos0.dtype))
    return np.asarray(qpos), out


def in_host(source, rows, **replaced):
    model, group, params = mjx.put_mujoco(source, replaced)
    data, state, qpos = mujoco.MjData(model), group.init(params), []
    for row in rows:
        state, _ = mjx.step_mujoco(model, data, group, params, state, row)
        qpos.append(data.qpos.copy())
    return np.array(qpos)


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast"])
def test_dcmotor_beside_mujoco(integrator):
    model = mujoco.MjModel.from_xml_string(ROBOTS.format(integrator=integrator))
    rows = commands(INPUTS)
    theirs = in_mujoco(model, rows)
    assert np.all(np.ptp(theirs, axis=0) > 0.5)
    ours, out = in_mjx(model, rows)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
    assert out.motor_torque.shape == (STEPS, 5)
    np.testing.assert_allclose(in_host(model, rows[:100]), theirs[:100], rtol=0, atol=1e-12)


def test_single_precision():
    with jax.enable_x64(False):
        model = mujoco.MjModel.from_xml_string(ROBOTS.format(integrator="Euler"))
        rows = commands(INPUTS)
        ours, _ = in_mjx(model, rows)
    assert ours.dtype == np.float32
    np.testing.assert_allclose(ours, in_mujoco(model, rows), rtol=0, atol=1e-3)


def test_plain_motor():
    spec = mujoco.MjSpec.from_string(MOTOR.format(integrator="Euler"))
    model = spec.compile()
    rows = commands([2])
    theirs = in_mujoco(model, rows)
    ours, _ = in_mjx(spec, rows)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
    np.testing.assert_allclose(in_host(spec, rows), theirs, rtol=0, atol=1e-12)
    theirs_alone = bare.put_model(model, impl="jax")

    @QUICKLY_COMPILED
    def run(rows):
        def body(data, row):
            data = bare.step(theirs_alone, data.replace(ctrl=row))
            return data, data.qpos

        start = bare.forward(theirs_alone, bare.make_data(theirs_alone))
        return jax.lax.scan(body, start, rows)[1]

    assert np.max(np.abs(np.asarray(run(jnp.asarray(rows))) - theirs)) > 0.05


def test_other_actuators_keep_their_activations():
    others = '<position name="servo" joint="knee" kp="5" timeconst=".05" armature=".002" damping=".01"/>'
    text = LEG.format(actuators=f'<dcmotor name="second" joint="hip" {HOT}/>{others}').format(integrator="Euler")
    model = mujoco.MjModel.from_xml_string(text)
    rows = commands([1, 0])
    theirs = in_mujoco(model, rows)
    np.testing.assert_allclose(in_mjx(model, rows)[0], theirs, rtol=0, atol=1e-12)
    np.testing.assert_allclose(in_host(model, rows[:100]), theirs[:100], rtol=0, atol=1e-12)


def rubbing(friction, friction_params):
    actuator, params = mjcf.dcmotor(resistance=1.0, motorconst=0.05, gear=5.0, armature=1e-5)
    replace = {"dry_friction": friction}
    fields = {name: getattr(actuator, name) for name in actuator.__dataclass_fields__}
    given = {name: getattr(params, name) for name in params.__dataclass_fields__}
    return jm.Actuator(**fields | replace), jm.ActuatorParams(**given | {"dry_friction": friction_params})


RUBBING = """<mujoco><option timestep="0.001" integrator="Euler"/><worldbody><body><joint name="j" axis="0 1 0" {own}/>
<inertial pos="0 0 -0.15" mass="0.5" diaginertia="0.005 0.005 0.005"/></body></worldbody>
<actuator>{actuator}</actuator></mujoco>"""


def test_coulomb_friction_reaches_the_engines():
    plain = RUBBING.format(own="", actuator='<motor name="m" joint="j"/>')
    rows = 6 * np.sin(0.01 * np.arange(300))[:, None]
    coulomb = rubbing(jm.CoulombFriction(), jm.CoulombFrictionParams(0.2))
    dcmotor = '<dcmotor name="m" joint="j" resistance="1" motorconst=".05" gear="5" armature="1e-5"/>'
    theirs = in_mujoco(mujoco.MjModel.from_xml_string(RUBBING.format(own='frictionloss="0.2"', actuator=dcmotor)), rows)
    np.testing.assert_allclose(in_host(plain, rows, m=coulomb), theirs, rtol=0, atol=1e-12)
    np.testing.assert_allclose(in_mjx(plain, rows, m=coulomb)[0], theirs, rtol=0, atol=1e-6)


LOADED = (
    LEG.replace('name="hip" axis', 'name="hip" stiffness="1.5" springref="11.459155902616466" axis')
    .format(
        actuators='<dcmotor name="first" joint="hip" resistance="1" motorconst=".05" gear="5" armature="1e-5"/>'
        '<dcmotor name="second" tendon="belt" resistance="1" motorconst=".05" gear="5" armature="1e-5"/>'
    )
    .format(integrator="Euler")
)


def test_friction_that_depends_on_load_beside_mujoco():
    """MuJoCo C with its own dcmotor and with frictionloss written anew before each step, by the formula, written out
    in NumPy: Kc + Kl |tm - te| + exp(-(w/ws)^2) Ks, the load te as the step before left it."""
    model = mujoco.MjModel.from_xml_string(LOADED)
    data, theirs, budgets = mujoco.MjData(model), [], []
    coulomb, load, stiction, slow = 0.02, 0.3, 0.05, 0.5
    turns = np.array([[1.0, 0.0], [0.6, 1.0]])
    rows = np.stack([4 * np.sin(0.02 * np.arange(200)), 2 * np.cos(0.03 * np.arange(200))], axis=1)
    pull = np.array([0.05, -0.02])
    data.qpos[:] = start = np.array([0.4, -0.3])
    mujoco.mj_forward(model, data)
    for row in rows:
        # The only constraints are friction's own, so they load no gear.
        external = -data.qfrc_bias + pull + [1.5 * (0.2 - data.qpos[0]), 0.0]
        carried = turns @ external / np.sum(turns**2, axis=1)
        data.ctrl[:], data.qfrc_applied[:] = row, pull
        mujoco.mj_forward(model, data)
        speed = turns @ data.qvel
        budget = coulomb + load * np.abs(5 * data.actuator_force - carried) + stiction * np.exp(-((speed / slow) ** 2))
        model.dof_frictionloss[0], model.tendon_frictionloss[0] = budget
        mujoco.mj_step(model, data)
        theirs.append(data.qpos.copy())
        budgets.append(budget)
    assert np.ptp(theirs) > 0.3
    assert np.max(budgets) > 3 * np.min(budgets)

    law = jm.LoadDependentFriction(load=jm.SymmetricLoadFriction(), stribeck=jm.Stribeck())
    numbers = jm.LoadDependentFrictionParams(
        coulomb, load=jm.SymmetricLoadFrictionParams(load), stribeck=jm.StribeckParams(stiction, slow, 2.0)
    )
    motors = {"first": rubbing(law, numbers), "second": rubbing(law, numbers)}
    host, group, params = mjx.put_mujoco(LOADED, motors)
    data, state, ours = mujoco.MjData(host), group.init(params), []
    data.qpos[:], data.qfrc_applied[:] = start, pull
    mujoco.mj_forward(host, data)
    for row in rows:
        state, _ = mjx.step_mujoco(host, data, group, params, state, row)
        ours.append(data.qpos.copy())
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)

    model, group, params = mjx.put_model(LOADED, motors)

    @QUICKLY_COMPILED
    def run(rows):
        def body(carry, row):
            data, state, out = mjx.step(model, carry[0], group, params, carry[1], row)
            return (data, state), (data.qpos, out.friction_budget)

        data, state = mjx.reset(model, group, params, jnp.asarray(start))
        return jax.lax.scan(body, (data.replace(qfrc_applied=jnp.asarray(pull)), state), rows)[1]

    ours, spent = run(jnp.asarray(rows))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-6)
    np.testing.assert_allclose(spent, budgets, rtol=0, atol=1e-5)


def speeds_of_a_braked_rotor(integrator, times):
    """A rotor with shorted terminals whose h N^2 Kt Ke / R is so many times its inertia M = I + N^2 J."""
    inertia, ratio, rotor, step = 0.01, 5.0, 1e-4, 1e-3
    constant = np.sqrt(times * (inertia + ratio**2 * rotor) / (step * ratio**2))
    text = f"""<mujoco><option timestep="{step}" gravity="0 0 0" integrator="{integrator}"/><worldbody><body>
    <joint name="j" axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia="{inertia} {inertia} {inertia}"/></body>
    </worldbody><actuator><motor name="m" joint="j"/></actuator></mujoco>"""
    motor = mjcf.dcmotor(resistance=1.0, motorconst=float(constant), gear=ratio, armature=rotor, input="voltage")
    model, group, params = mjx.put_mujoco(text, {"m": motor})
    data, state = mujoco.MjData(model), group.init(params)
    data.qvel[:] = 1
    speeds = [1.0]
    for _ in range(30):
        state, _ = mjx.step_mujoco(model, data, group, params, state, np.zeros(1))
        speeds.append(float(data.qvel[0]))
    return np.array(speeds)


def test_bound_of_stability():
    """Euler: v+ = (1 - h N^2 b / M) v, so the documented bound is where that factor passes -1; implicitfast divides."""
    for times in (1.9, 2.1):
        np.testing.assert_allclose(speeds_of_a_braked_rotor("Euler", times), (1 - times) ** np.arange(31), rtol=1e-9)
    ours = speeds_of_a_braked_rotor("implicitfast", 21.0)
    np.testing.assert_allclose(ours, 22.0 ** -np.arange(31.0), rtol=1e-9)


def test_what_it_refuses():
    text = '<mujoco><worldbody><body><joint type="ball" name="b"/><geom size=".1"/></body></worldbody><actuator>'
    dcmotor = '<dcmotor name="m" joint="b" resistance="1" motorconst=".05"/></actuator></mujoco>'
    with pytest.raises(ValueError, match="motor 'm' must drive a hinge, a slide or a fixed tendon of them"):
        mjx.put_model(text + dcmotor)
    with pytest.raises(ValueError, match="the model has no actuator 'x'; it has: m"):
        mjx.put_model(PENDULUM_ALONE.format(integrator="Euler"), {"x": rubbing(jm.NoDryFriction(), None)})


def pendulum_return(steps):
    text = RUBBING.format(own='damping=".01"', actuator=f'<dcmotor name="m" joint="j" {HOT} inductance="0 .001"/>')
    model, group, params = mjx.put_model(text)

    def total(policy, params):
        def body(carry, _):
            data, state = carry
            seen = jnp.stack([jnp.sin(data.qpos[0]), data.qvel[0], jnp.ones_like(data.qpos[0])])
            data, state, out = mjx.step(model, data, group, params, state, 6 * jnp.tanh(policy @ seen)[None])
            return (data, state), jnp.cos(data.qpos[0]) - 0.01 * out.copper_loss[0]

        start = mjx.reset(model, group, params, jnp.array([0.3]))
        return jnp.sum(jax.lax.scan(body, start, None, length=steps)[1])

    return total, params


def test_gradient_of_a_return():
    total, params = pendulum_return(200)
    policy = jnp.array([0.4, -0.3, 0.5])
    leaves, structure = jax.tree.flatten(params)
    size = jnp.stack([jnp.max(jnp.abs(leaf)) for leaf in leaves])

    def scaled(policy, factors):
        return total(policy, jax.tree.unflatten(structure, [x * f for x, f in zip(leaves, factors, strict=True)]))

    point, back = jax.flatten_util.ravel_pytree((policy, jnp.ones_like(size)))
    moves = 1e-5 * jnp.eye(point.shape[0])
    points = jnp.concatenate([point[None], point + moves, point - moves])
    values, gradients = QUICKLY_COMPILED(jax.vmap(jax.value_and_grad(lambda x: scaled(*back(x)))))(points)
    assert np.all(np.isfinite(values))
    assert np.all(np.isfinite(gradients))
    ahead, behind = jnp.split(values[1:], 2)
    central = (ahead - behind) / 2e-5
    assert jnp.max(jnp.abs(gradients[0] - central) / jnp.maximum(jnp.abs(central), 1e-2)) < 1e-4


def test_batches_and_substeps():
    model, group, params = mjx.put_model(PENDULUM_ALONE.format(integrator="implicitfast"))
    hotter = jax.tree.map(lambda x: jnp.stack([x, 1.1 * x]), params)
    start = jnp.array([[0.1], [0.1]])
    rows = jnp.tile(jnp.array([1.0, 0.0]), (2, 1))

    @QUICKLY_COMPILED
    @jax.vmap
    def run(params, qpos, ctrl):
        data, state = mjx.reset(model, group, params, qpos)
        return mjx.control_step(model, data, group, params, state, ctrl, 5)

    data, _, out = run(hotter, start, rows)
    assert out.voltage.shape == (2, 5, 1)
    assert data.qpos[0] != data.qpos[1]
    np.testing.assert_allclose(data.time, 0.005)
    assert np.all(np.asarray(data.qfrc_applied) == 0)
    assert group.named(params, "m").motor.winding.resistance == 2
