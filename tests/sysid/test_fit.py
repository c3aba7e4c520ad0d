"""Fits of logs that exact solutions made: what is found, what is refused, what is said."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import sysid
from sysid._adjust import free_parameter
from sysid._begin import begin
from sysid._choose import choose_model
from sysid._errors import LogError, ModelError
from sysid._free import Free, places
from sysid._setup import setup
from sysid._windows import padded_rows, pieces, resets

from .motor_logs import CURRENT_NOISE, SPEED_NOISE, TRUTH, brushed, levels, log

COMPILED: list[str] = []
jax.monitoring.register_event_duration_secs_listener(
    lambda event, duration, **more: COMPILED.append(event) if "backend_compile" in event else None
)


def values(result: sysid.Fit) -> dict[str, float]:
    return {estimate.name: estimate.value for estimate in result.estimates}


def errors(result: sysid.Fit) -> dict[str, float]:
    """Distance from the truth in standard errors."""
    return {e.name: (e.value - TRUTH[e.name]) / e.std_error for e in result.estimates}


@pytest.fixture(scope="module")
def made():
    return log(brushed(seed=1))


@pytest.fixture(scope="module")
def reference(made):
    return sysid.fit(made)


def test_truth_is_found_within_its_errors(reference):
    assert reference.status == "ok"
    assert all(abs(distance) < 3.5 for distance in errors(reference).values())
    assert reference.noise["current"] == pytest.approx(CURRENT_NOISE, rel=0.15)
    assert reference.noise["velocity"] == pytest.approx(SPEED_NOISE, rel=0.15)
    assert reference.to_dict()["rank"] == {"determined": 5, "free": 5}
    assert reference.timing["solve_s"] > 0


def test_the_same_seed_gives_the_same_bits_and_nothing_compiles_again(made, reference):
    before = {name: channel.copy() for name, channel in made.channels.items()}
    compiled = len(COMPILED)
    again = sysid.fit(made)
    other = sysid.fit(log(brushed(seed=2, rows=850)))
    assert len(COMPILED) == compiled
    assert values(again) == values(reference)
    assert [e.std_error for e in again.estimates] == [e.std_error for e in reference.estimates]
    assert values(other)["resistance"] == pytest.approx(TRUTH["resistance"], rel=0.01)
    for name, channel in made.channels.items():
        np.testing.assert_array_equal(channel, before[name])


def test_any_seed_ends_at_the_same_place(made, reference):
    for seed in (1, 2, 3):
        for name, value in values(sysid.fit(made, seed=seed)).items():
            assert value == pytest.approx(values(reference)[name], rel=1e-4)


def test_a_result_is_a_start(made, reference):
    again = reference.resume(made)
    assert values(again) == pytest.approx(values(reference), rel=1e-6)
    assert len(again.trace) <= len(reference.trace)
    assert again.status == "ok"


# Gradients


def test_every_gradient_is_that_of_central_differences(made):
    model = choose_model([made])
    problem = setup(model, [made]).problem
    start = [TRUTH[name] * 1.3 for name in model.free.names]
    points = begin(model.free, problem.owner, start, {}, 1, 2, starts=1, seed=0)
    point = jax.tree.map(lambda x: x[0], points)
    value = eqx.filter_jit(lambda at: problem.value(at))
    gradient = eqx.filter_jit(jax.grad(lambda at: problem.value(at)))(point).coordinates
    for k, name in enumerate(model.free.names):
        step = 1e-5
        up, down = (
            float(value(eqx.tree_at(lambda p: p.coordinates, point, point.coordinates.at[k].add(s))))
            for s in (step, -step)
        )
        assert abs(float(gradient[k])) > 0, name
        assert float(gradient[k]) == pytest.approx((up - down) / (2 * step), rel=1e-4), name


def test_a_parameter_without_effect_is_named(made):
    model = choose_model([made]).adjusted(free=["velocity_offset"])
    result = sysid.fit(made, model=model, outputs=["current"])
    assert result.status == "warning"
    found = {estimate.name: estimate for estimate in result.estimates}
    assert found["velocity_offset"].flag == "not excited"
    assert found["velocity_offset"].std_error is None
    assert "velocity_offset" in next(c for c in result.cautions if c.code == "not_excited").message


# Bounds


def _started(model, **starts):
    free = [
        dataclasses.replace(parameter, start=starts.get(parameter.name, parameter.start))
        for parameter in model.free.parameters
    ]
    return dataclasses.replace(model, free=Free(tuple(free)))


@pytest.mark.parametrize("friction", [0.0, 1e-12])
@pytest.mark.parametrize("starts", [1, 6])
def test_friction_that_starts_at_zero_is_found(made, friction, starts):
    factors = {"resistance": 1.8, "motor_constant": 0.6, "inertia": 2.0}
    begun = {name: factor * TRUTH[name] for name, factor in factors.items()}
    model = _started(choose_model([made]), **begun, coulomb_friction=friction, viscous_damping=friction)
    result = sysid.fit(made, model=model, starts=starts)
    found = values(result)
    if result.status == "ok":
        assert found["coulomb_friction"] == pytest.approx(TRUTH["coulomb_friction"], rel=0.05)
        assert found["viscous_damping"] == pytest.approx(TRUTH["viscous_damping"], rel=0.15)
    else:
        stuck = {name for caution in result.cautions for name in caution.parameters}
        assert {"coulomb_friction", "viscous_damping"} <= stuck


@pytest.mark.parametrize("start", [0.0, 1e-3, 3e-4])
def test_an_optimum_on_a_bound(start):
    truth = {"resistance": 1.0, "motor_constant": 0.05, "inertia": 5e-5, "coulomb_friction": 0.005}
    clean = log(brushed(seed=4, noise=0.0, viscous_damping=0.0, **truth))
    model = choose_model([clean])
    bounded = [
        dataclasses.replace(p, start=start, lower=0.0, upper=1e-3) if p.name == "viscous_damping" else p
        for p in model.free.parameters
    ]
    result = sysid.fit(clean, model=dataclasses.replace(model, free=Free(tuple(bounded))))
    found = values(result)
    assert 0 <= found["viscous_damping"] < 1e-7
    for name, value in truth.items():
        assert found[name] == pytest.approx(value, rel=0.005)
    flagged = {estimate.name: estimate for estimate in result.estimates}["viscous_damping"]
    assert flagged.at_bound
    assert flagged.std_error is None
    assert all(np.isfinite(estimate.value) for estimate in result.estimates)
    assert result.status == "warning"


# What the log does not tell


def test_voltage_and_speed_alone_do_not_fix_everything():
    result = sysid.fit(log(brushed(seed=1), channels=("voltage", "velocity")))
    entry = result.to_dict()
    assert entry["status"] == "warning"
    assert entry["rank"]["determined"] == 3
    assert any(caution.code == "undetermined" for caution in result.cautions)
    assert not any(estimate.flag == "identified" for estimate in result.estimates if estimate.name != "motor_constant")


def test_a_current_of_the_wrong_sign_is_no_success():
    columns = brushed(seed=1)
    result = sysid.fit(log({**columns, "current": -columns["current"]}))
    assert result.status == "warning"
    assert any(caution.code == "misfit" for caution in result.cautions)
    assert values(result)["resistance"] > 0


def test_a_motor_that_is_not_the_model_is_no_success():
    columns = brushed(seed=1)
    result = sysid.fit(log({**columns, "velocity": columns["velocity"] * (1 + 2e-3 * np.abs(columns["velocity"]))}))
    codes = {caution.code for caution in result.cautions}
    assert {"misfit", "correlated_residuals"} <= codes


# Choices


def test_held_out_logs_are_only_predicted(made, reference):
    other = log(brushed(seed=9), name="other")
    result = sysid.fit(made, hold_out=other)
    assert values(result) == pytest.approx(values(reference), rel=1e-9)
    metrics = result.to_dict()["metrics"]
    assert metrics["made"]["velocity"]["role"] == "train"
    assert metrics["other"]["velocity"]["role"] == "hold-out"
    assert metrics["other"]["current"]["rmse"] == pytest.approx(CURRENT_NOISE, rel=0.15)
    assert metrics["other"]["velocity"]["rows"] == 800


def test_a_parameter_of_each_log():
    logs = [log(brushed(seed=1), name="light"), log(brushed(seed=2, inertia=9e-5), name="heavy")]
    model = choose_model(logs)
    free = [dataclasses.replace(p, per_log=p.name == "inertia") for p in model.free.parameters]
    result = sysid.fit(logs, model=dataclasses.replace(model, free=Free(tuple(free))))
    found = values(result)
    assert found["inertia[light]"] == pytest.approx(4e-5, rel=0.005)
    assert found["inertia[heavy]"] == pytest.approx(9e-5, rel=0.005)
    assert found["resistance"] == pytest.approx(TRUTH["resistance"], rel=0.005)
    assert result.status == "ok"


def test_a_prior_fills_what_the_log_leaves_open():
    part = log(brushed(seed=1), channels=("voltage", "velocity"))
    model = choose_model([part])
    known = {"resistance": (1.3, 0.013), "motor_constant": (0.045, 4.5e-4)}
    free = [dataclasses.replace(p, prior=known.get(p.name)) for p in model.free.parameters]
    result = sysid.fit(part, model=dataclasses.replace(model, free=Free(tuple(free))))
    found = {estimate.name: estimate for estimate in result.estimates}
    assert found["resistance"].std_error == pytest.approx(0.013, rel=0.1)
    assert found["resistance"].value == pytest.approx(1.3, abs=0.03)
    # J follows from K^2 / R; B is a small difference to K^2 / R, which one percent of R drowns.
    assert found["inertia"].relative == pytest.approx(0.0141, rel=0.2)
    assert found["viscous_damping"].flag == "open"
    assert result.to_dict()["rank"]["determined"] == 4


def test_a_held_parameter_stays(made):
    result = sysid.fit(made, fix={"motor_constant": 0.0455})
    assert "motor_constant" not in values(result)
    winding = result.params.actuator.motor.winding
    assert float(winding.torque_constant) == float(winding.back_emf_constant) == 0.0455


def test_a_tie_moves_its_parts_together_until_one_is_freed(made, reference):
    winding = reference.params.actuator.motor.winding
    assert float(winding.torque_constant) == float(winding.back_emf_constant)
    apart = choose_model([made]).adjusted(free=["torque_constant"])
    assert {"torque_constant", "back_emf_constant"} <= set(apart.free.names)
    result = sysid.fit(made, model=apart)
    # Without a torque sensor only Kt / J, B / J and the like are fixed.
    assert result.to_dict()["rank"]["determined"] == 5
    assert {e.name: e for e in result.estimates}["back_emf_constant"].flag == "identified"
    assert {e.name: e for e in result.estimates}["torque_constant"].flag != "identified"


CHAIN = optax.chain(
    optax.clip_by_global_norm(1e3), optax.scale_by_adam(), optax.scale_by_schedule(lambda n: -0.02 * 0.993**n)
)


@pytest.mark.parametrize(
    ("solver", "within"), [("lbfgs", 0.01), ("adam", 3.0), (CHAIN, 3.0)], ids=["lbfgs", "adam", "own"]
)
def test_every_solver_reaches_the_same_optimum(made, reference, solver, within):
    result = sysid.fit(made, solver=solver, starts=2, iterations=800)
    for estimate, best in zip(result.estimates, reference.estimates, strict=True):
        assert abs(estimate.value - best.value) < within * best.std_error, estimate.name


# Refusals


def test_refusals_are_one_line(made):
    cases = [
        (lambda: sysid.fit([]), ModelError, "no log"),
        (lambda: sysid.fit(made, outputs=["temperature"]), LogError, "temperature"),
        (lambda: sysid.fit(made, outputs=["speed"]), LogError, "speed"),
        (lambda: sysid.fit(made, model=choose_model([made]), free=["resistence"]), ModelError, "resistence"),
        (lambda: sysid.fit(made, solver="newton"), ModelError, "newton"),
        (lambda: sysid.fit(made, fix={"resistence": 1.0}), ModelError, "resistence"),
        (lambda: sysid.fit(made, bench=choose_model([made]).bench), ModelError, "params"),
        (lambda: sysid.fit(made, fix={"resistance": -1.0}), ModelError, "resistance"),
        (lambda: sysid.fit(made, command="duty"), LogError, "duty"),
    ]
    for call, kind, words in cases:
        with pytest.raises(kind, match=words) as raised:
            call()
        assert "\n" not in str(raised.value)


def test_float32_is_refused(made):
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.raises(ModelError, match="float64") as raised:
            sysid.fit(made)
    finally:
        jax.config.update("jax_enable_x64", True)
    assert "\n" not in str(raised.value)


# Rows


def test_pieces_end_at_breaks(made):
    broken = made.replace(breaks=np.array([100, 103, 400]))
    cut = pieces([broken, made], longest=300)
    assert all(piece.last - piece.first <= 300 for piece in cut)
    assert not any(piece.log == 0 and piece.first < edge < piece.last for piece in cut for edge in (100, 103, 400))
    covered = sorted(row for piece in cut if piece.log == 0 for row in range(piece.first, piece.last))
    # The three rows between two breaks are too few.
    assert covered == [row for row in range(800) if not 100 <= row < 103]
    with pytest.raises(LogError, match="four rows"):
        pieces([made.select(slice(0, 3))])


def test_padding_is_little_and_lengths_are_few():
    lengths = {padded_rows(rows) for rows in range(1, 4097)}
    assert len(lengths) < 30
    assert all(rows <= padded_rows(rows) < max(65, 1.26 * rows) for rows in range(1, 4097))
    assert not resets((2, 100), 30)[:, 0].any()
    assert resets((2, 100), 30)[0].sum() == 3


def test_a_gap_with_an_unknown_voltage(made):
    columns = brushed(seed=1)
    gone = (np.arange(800) % 200 > 150) & (np.arange(800) % 200 < 190)
    result = sysid.fit(log(columns).select(~gone))
    assert result.status == "ok"
    assert values(result)["inertia"] == pytest.approx(TRUTH["inertia"], rel=0.01)


def test_missing_measurements_count_nothing(made):
    from sysid._batch import Channel
    from sysid._residual import difference

    x = jnp.asarray([1.0, 2.0, 3.0])
    channel = Channel(jnp.asarray([1.0, 1.0, 3.0]), jnp.asarray([True, False, True]), jnp.zeros(3, jnp.int32))

    def mean_square(k):
        return jnp.sum(difference(k * x, channel) ** 2) / jnp.sum(channel.usable.astype(float))

    assert float(mean_square(jnp.asarray(0.5))) == pytest.approx(1.25)
    assert float(jax.grad(mean_square)(jnp.asarray(0.5))) == pytest.approx(-5.0)

    columns = brushed(seed=1)
    lost = np.random.default_rng(0).random(800) < 0.1
    with_nan = log({**columns, "current": np.where(lost, np.nan, columns["current"])})
    by_hand = log({**columns, "current": np.where(lost, 3.0, columns["current"])}, masks={"current": ~lost})
    first, second = values(sysid.fit(with_nan)), values(sysid.fit(by_hand))
    for name, value in first.items():
        assert value == pytest.approx(second[name], rel=1e-3)
        assert value == pytest.approx(TRUTH[name], rel=0.1)


def test_a_clipped_current_says_on_which_side_the_truth_lies():
    columns = brushed(seed=1)
    ends = np.where(columns["current"] >= 3, 1, np.where(columns["current"] <= -3, -1, 0)).astype(np.int8)
    assert np.mean(ends != 0) > 0.1
    clipped = {**columns, "current": np.clip(columns["current"], -3, 3)}
    marked = log(clipped, masks={"current": ends == 0}, censored={"current": ends})
    result = sysid.fit(marked)
    for name, width in {"resistance": 0.01, "motor_constant": 0.01, "inertia": 0.02}.items():
        assert values(result)[name] == pytest.approx(TRUTH[name], rel=width)
    as_it_stands = sysid.fit(log(clipped))
    assert as_it_stands.status == "warning"


def test_a_delay_is_found_from_any_start():
    columns = brushed(seed=3)
    # The voltage acted four and a half rows later than it was logged; a held command between rows is its mean.
    early = np.concatenate([columns["voltage"][4:], np.full(4, columns["voltage"][-1])])
    late = log({**columns, "voltage": early})
    model = choose_model([log(columns)])
    for start in (1e-3, 0.02, 0.1, 0.3):
        delay = free_parameter(places(model.subject)["delay"], model.subject, start=start, upper=0.5)
        result = sysid.fit(late, model=dataclasses.replace(model, free=Free((*model.free.parameters, delay))))
        assert values(result)["delay"] == pytest.approx(0.008, abs=5e-4)
        assert values(result)["inertia"] == pytest.approx(TRUTH["inertia"], rel=0.05)


def test_a_step_that_is_too_long_is_halved_until_it_does_not_matter():
    # Rows of half the mechanical time constant, on which dry friction and the winding share.
    columns = brushed(seed=5, rows=800, step=8e-3, inductance=0.0, voltage=levels(800, 5, largest=3.0, hold=12))
    result = sysid.fit(log(columns))
    assert not any(caution.code == "step" for caution in result.cautions)
    assert values(result)["inertia"] == pytest.approx(TRUTH["inertia"], rel=0.02)
    assert values(result)["coulomb_friction"] == pytest.approx(TRUTH["coulomb_friction"], rel=0.02)
