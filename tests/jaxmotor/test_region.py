"""The operating region: values of RaiSim's page, its geometry, and its gradients."""

import json
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import jaxmotor as jm
from jaxmotor._region import OperatingRegion
from jaxmotor._saturation import Saturation


def region_of(motor):
    """A region from a case file, which gives the velocity constant."""
    return OperatingRegion(
        motor["resistance"],
        motor["torque_constant"],
        1 / motor["velocity_constant"],
        motor["bus_voltage"],
        float(motor.get("peak_torque", "inf")),
    )


@pytest.fixture(scope="module")
def cases(shared):
    return json.loads((shared / "goldens/raisim/raisim_cases.json").read_text())["cases"]


def of_kind(cases, kind):
    chosen = [case for case in cases if case["kind"] == kind]
    assert chosen
    return chosen


def assert_flags(got, expected):
    for flag, name in zip(np.asarray(got), expected, strict=True):
        assert name is None or flag == Saturation[name]


def test_motor_constants_of_the_page(cases):
    for case in of_kind(cases, "motor_constants"):
        region = region_of(case["inputs"]["motor"])
        for name, value in case["expected"].items():
            np.testing.assert_allclose(getattr(region, name), value, rtol=case["tol"], err_msg=case["id"])


def test_bounds_of_the_page(cases):
    for case in of_kind(cases, "motor_bounds"):
        bounds = region_of(case["inputs"]["motor"]).bounds(jnp.asarray(case["inputs"]["motor_speed"], float))
        expected = case["expected"]
        peak = case["inputs"]["motor"].get("peak_torque", 1.0)
        np.testing.assert_allclose(bounds.lower, expected["lower"], rtol=1e-12, atol=1e-12 * peak)
        np.testing.assert_allclose(bounds.upper, expected["upper"], rtol=1e-12, atol=1e-12 * peak)
        assert_flags(bounds.lower_saturation, expected["lower_saturation"])
        assert_flags(bounds.upper_saturation, expected["upper_saturation"])


def test_clip_and_violation_of_the_page(cases):
    for case in of_kind(cases, "clip_motor_torque"):
        region = region_of(case["inputs"]["motor"])
        speed, torque = (jnp.asarray(case["inputs"][name], float) for name in ("motor_speed", "torque"))
        clipped, saturation = region.clip(speed, torque)
        np.testing.assert_allclose(clipped, case["expected"]["torque"], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(region.violation(speed, torque), case["expected"]["violation"], atol=1e-12)
        on_the_line = (np.asarray(speed) == 238) & (np.asarray(torque) == 0.1)
        flags = [None if skip else flag for skip, flag in zip(on_the_line, case["expected"]["saturation"], strict=True)]
        assert_flags(saturation, flags)


def test_validity_of_the_page(cases):
    (case,) = of_kind(cases, "motor_is_valid")
    for motor, valid in zip(case["inputs"]["motors"], case["expected"]["valid"], strict=True):
        motor = {name: float(value) for name, value in motor.items()}
        if valid:
            region_of(motor)
        else:
            with pytest.raises(ValueError, match=r"must be|beyond"):
                region_of(motor)


def test_all_quadrants_of_one_motor():
    region = OperatingRegion(0.4, 0.1, 0.1, 24, 3)
    speed = jnp.array([0.0, 120, 180, 240, 300, 360, 500, -180, -300])
    bounds = region.bounds(speed)
    np.testing.assert_allclose(bounds.lower, [-3, -3, -3, -3, -3, -3, -3, -1.5, 1.5], atol=1e-9)
    np.testing.assert_allclose(bounds.upper, [3, 3, 1.5, 0, -1.5, -3, -3, 3, 3], atol=1e-9)
    np.testing.assert_allclose(OperatingRegion(0.4, 0.1, 0.1, 18, 3).bounds(180.0).upper, 0, atol=1e-9)


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_keeps_the_precision_it_is_given(dtype):
    numbers = [jnp.asarray(x, dtype) for x in (0.21, 0.0314, 0.0297, 18.0, 1.7)]
    region = OperatingRegion(*numbers)
    clipped, saturation = region.clip(jnp.asarray(310.0, dtype), jnp.asarray(2.0, dtype))
    assert clipped.dtype == region.corner_speed.dtype == region.violation(jnp.asarray(1.0, dtype), 9.0).dtype == dtype
    assert saturation.dtype == jnp.int32


def test_python_numbers_become_default_floats():
    region = OperatingRegion(1, 0.05, np.float32(0.05), 12, [0.3, 1])
    assert {leaf.dtype for leaf in jax.tree.leaves(region)} == {jnp.dtype(jnp.float64)}
    with jax.enable_x64(False):
        region = OperatingRegion(1, 0.05, np.float64(0.05), np.full(2, 12.0), 0.3)
        assert {leaf.dtype for leaf in jax.tree.leaves(region)} == {jnp.dtype(jnp.float32)}


@pytest.mark.parametrize("bad", [None, 0, math.nan, -2.0])
def test_names_the_bad_motor_of_a_batch(bad):
    with pytest.raises(ValueError, match=r"motor 2 of 3: peak torque (is missing|must be positive)"):
        OperatingRegion(0.4, 0.1, 0.1, 24, [3, bad, 3])
    with pytest.raises(ValueError, match=r"motor 1, 2 of 2, 2: resistance"):
        OperatingRegion([[0.4, bad], [0.4, 0.4]], 0.1, 0.1, 24, 3)


def test_refuses_what_is_no_motor():
    with pytest.raises(ValueError, match="peak torque is missing; write inf"):
        OperatingRegion(0.4, 0.1, 0.1, 24, None)
    with pytest.raises(ValueError, match="resistance must be positive and finite, not inf"):
        OperatingRegion(math.inf, 0.1, 0.1, 24)
    with pytest.raises(ValueError, match="torque constant must be numbers"):
        OperatingRegion(0.4, "much", 0.1, 24)
    with pytest.raises(ValueError, match="motor 3 of 3: the torque per volt"):
        OperatingRegion([1.0, 1.0, 1e-300], 1e10, 0.1, 24)
    with pytest.raises(ValueError, match="the no-load speed"):
        OperatingRegion(jnp.float32(1), jnp.float32(1), jnp.float32(1e-30), jnp.float32(1e30))


def test_builds_inside_transformations():
    def drawn(peak, speed):
        return OperatingRegion(0.4, 0.1, 0.1, 24, peak).clip(speed, 5.0)[0]

    peaks, speeds = jnp.array([1.0, 3, 5]), jnp.array([0.0, 200, 150])
    np.testing.assert_allclose(jax.jit(jax.vmap(drawn))(peaks, speeds), [1, 1, 2.25], rtol=1e-12)
    assert jax.grad(drawn)(2.0, 0.0) == 1.0


def test_a_batch_equals_its_motors():
    numbers = np.random.default_rng(3).uniform(0.5, 2, (5, 4, 3)) * np.array([0.3, 0.08, 0.07, 30, 2])[:, None, None]
    batch = OperatingRegion(*numbers)
    speed, torque = np.linspace(-700, 700, 12).reshape(4, 3), np.linspace(9, -9, 12).reshape(4, 3)
    clipped, saturation = batch.clip(speed, torque)
    for at in np.ndindex(4, 3):
        alone, code = OperatingRegion(*numbers[(slice(None), *at)]).clip(speed[at], torque[at])
        assert clipped[at] == alone
        assert saturation[at] == code


@pytest.mark.parametrize("bus_voltage", [30.0, math.inf])
@pytest.mark.parametrize("peak_torque", [2.5, math.inf])
def test_infinite_limits_leave_no_nan(bus_voltage, peak_torque):
    region = OperatingRegion(0.3, 0.08, 0.07, bus_voltage, peak_torque)

    def everything(region, speed, torque):
        bounds, (clipped, _) = region.bounds(speed), region.clip(speed, torque)
        ends = [jnp.where(jnp.isfinite(end), end, 0.0) for end in (bounds.lower, bounds.upper)]
        derived = [region.stall_torque, region.no_load_speed, region.corner_speed, region.overspeed_limit]
        return (
            clipped
            + region.violation(speed, torque)
            + sum(ends)
            + sum(jnp.where(jnp.isfinite(x), x, 0.0) for x in derived)
        )

    assert not any(jnp.isnan(x) for x in (region.corner_speed, region.overspeed_limit, region.stall_torque))
    for speed in (0.0, 400.0, -900.0):
        for torque in (0.0, 4.0, -400.0):
            reverse = jax.grad(everything, argnums=(0, 1, 2))(region, speed, torque)
            forward = jax.jacfwd(everything, argnums=(0, 1, 2))(region, speed, torque)
            for one, other in zip(jax.tree.leaves(reverse), jax.tree.leaves(forward), strict=True):
                assert jnp.isfinite(one)
                np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    flag = region.clip(0.0, 1e9)[1]
    assert flag == (Saturation.PEAK_TORQUE if peak_torque == 2.5 else Saturation.VOLTAGE if bus_voltage == 30 else 0)


def test_no_limit_at_all():
    region = OperatingRegion(0.3, 0.08, 0.07, math.inf)
    assert region.clip(1e4, -1e6) == (-1e6, Saturation.NONE)
    assert region.violation(0.0, math.inf) == 0
    assert region.corner_speed == region.overspeed_limit == region.no_load_speed == math.inf
    assert OperatingRegion(0.3, 0.08, 0.07, 24).corner_speed == -math.inf


def test_not_a_number_stays_not_a_number():
    region = OperatingRegion(0.3, 0.08, 0.07, 24, 2.5)
    assert jnp.isnan(region.clip(10.0, jnp.nan)[0])
    assert jnp.isnan(region.clip(jnp.nan, 1.0)[0])
    assert jnp.isnan(region.violation(0.0, jnp.nan))
    speed = jnp.array([0.0, jnp.nan, 0.0])
    np.testing.assert_array_equal(jnp.isnan(region.clip(speed, 9.0)[0]), [False, True, False])


def test_gradients_are_finite_on_every_kink():
    region = OperatingRegion(0.4, 0.1, 0.1, 24, 3)
    kinks = [region.no_load_speed, region.corner_speed, region.overspeed_limit, jnp.zeros(())]
    for speed in [sign * kink for kink in kinks for sign in (1.0, -1.0)]:
        for torque in (0.0, 3.0, -3.0, 5.0):
            slopes = jax.grad(lambda *x: region_sum(*x), argnums=(0, 1, 2))(region, speed, jnp.asarray(torque))
            assert all(jnp.isfinite(x) for x in jax.tree.leaves(slopes))


def region_sum(region, speed, torque):
    return region.clip(speed, torque)[0] + region.violation(speed, torque)


motors = st.tuples(
    st.floats(0.02, 5), st.floats(0.005, 2), st.floats(0.005, 2), st.floats(3, 400), st.floats(0.05, 200)
)
clip_jit = jax.jit(lambda numbers, speed, torque: clip_and_bounds(OperatingRegion(*numbers), speed, torque))
slope_jit = jax.jit(
    lambda numbers, speed, torque: jax.grad(lambda x: OperatingRegion(*x[:5]).clip(x[5], x[6])[0])(
        jnp.stack([*numbers, speed, torque])
    )
)
value_jit = jax.jit(lambda x: OperatingRegion(*x[:5]).clip(x[5], x[6])[0])


def clip_and_bounds(region, speed, torque):
    bounds = region.bounds(speed)
    clipped, saturation = region.clip(speed, torque)
    return bounds, clipped, saturation, region.violation(speed, torque), region.overspeed_limit


@settings(max_examples=300)
@given(motors, st.floats(-4, 4), st.floats(-4, 4))
def test_geometry(numbers, speed_share, torque_share):
    resistance, kt, ke, volts, peak = numbers
    numbers = tuple(map(jnp.asarray, numbers))
    speed, torque = jnp.asarray(speed_share * volts / ke), jnp.asarray(torque_share * peak)
    bounds, clipped, saturation, violation, overspeed = clip_jit(numbers, speed, torque)
    assert bounds.lower <= bounds.upper
    assert bounds.lower <= clipped <= bounds.upper
    assert abs(clipped) <= peak
    again = clip_jit(numbers, speed, clipped)
    assert again[1] == clipped
    assert again[2] == Saturation.NONE
    assert again[3] == 0
    assert abs(torque - clipped) == violation
    assert (saturation == Saturation.NONE) == (violation == 0)
    # The nearest: no point of the interval is nearer to the request.
    assert violation <= min(abs(torque - bounds.lower), abs(torque - bounds.upper))
    if speed > overspeed * (1 + 1e-12):
        assert bounds.lower == bounds.upper == -peak
    # Kirchhoff: where the voltage limits short of saturation, the terminals are at the bus voltage.
    if saturation == Saturation.VOLTAGE and abs(speed) < overspeed * (1 - 1e-12):
        np.testing.assert_allclose(abs(resistance * clipped / kt + ke * speed), volts, rtol=1e-9)


@settings(max_examples=100)
@given(motors, st.floats(-3, 3), st.floats(-3, 3))
def test_gradients_equal_central_differences(numbers, speed_share, torque_share):
    point = np.array([*numbers, speed_share * numbers[3] / numbers[2], torque_share * numbers[4]])
    step = 1e-6 * np.maximum(np.abs(point), 1e-3)
    slope = slope_jit(tuple(map(jnp.asarray, numbers)), jnp.asarray(point[5]), jnp.asarray(point[6]))
    assert np.all(np.isfinite(slope))
    scale = max(numbers[4], 4 * numbers[1] * numbers[3] / numbers[0])
    for k, h in enumerate(step):
        ahead, here, behind = (float(value_jit(jnp.asarray(point + s * h * np.eye(7)[k]))) for s in (1, 0, -1))
        if not np.isclose(ahead - here, here - behind, rtol=1e-3, atol=1e-10):
            continue  # a kink lies inside the difference
        np.testing.assert_allclose(slope[k], (ahead - behind) / (2 * h), rtol=1e-5, atol=1e-14 * scale / h)


def test_the_gradient_beyond_overspeed_for_a_request_on_the_core():
    """At 6 V of back-EMF, R tau / Kt = 1 V and 3 V of bus, both bounds are -tau_peak, and so is the torque."""
    slope = slope_jit(tuple(map(jnp.asarray, (1.0, 1.0, 1.0, 3.0, 1.0))), jnp.asarray(6.0), jnp.asarray(-1.0))
    np.testing.assert_array_equal(slope, [0, 0, 0, 0, -1, 0, 0])


def test_a_million_requests_stay_inside():
    rng = np.random.default_rng(0)
    region = OperatingRegion(0.4, 0.1, 0.1, 24, 3)
    speed, torque = rng.uniform(-600, 600, 1_000_000), rng.uniform(-9, 9, 1_000_000)
    clipped, _ = jax.jit(lambda r, w, t: r.clip(w, t))(region, speed, torque)
    volts = 0.4 / 0.1 * np.asarray(clipped) + 0.1 * speed
    inside = (np.abs(volts) <= 24 + 4e-12 * 3) | (np.asarray(clipped) == -3 * np.sign(speed))
    assert inside.all()
    assert np.max(np.abs(clipped)) <= 3


def test_speed_constant_of_a_datasheet_in_rpm_per_volt(cases):
    """One rpm is 2 pi / 60 rad/s, and the back-EMF constant is the reciprocal of the speed constant in SI."""
    for case in of_kind(cases, "unit_conversion"):
        given, right = case["inputs"]["kv_rpm_per_volt"], case["expected"]["kv_rad_s_per_volt"]
        for rpm_per_volt, expected in zip(given, right, strict=True):
            _, params = jm.from_datasheet(
                convention="terminal",
                nominal_voltage_V=24.0,
                resistance_ohm=0.2,
                speed_constant_rpm_per_V=rpm_per_volt,
            )
            found = 1 / float(params.motor.winding.back_emf_constant)
            assert found == pytest.approx(expected, rel=case["tol"])
