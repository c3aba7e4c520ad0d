"""Profile likelihood, against the same valley followed by scipy in a closed form of the current."""

import jax
import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from scipy.signal import lfilter

import sysid
from sysid._profile import in_words, profile_cautions

from .motor_logs import log

RESISTANCE, CONSTANT, NOISE, ROWS = 1.3, 0.045, 0.02, 400
THRESHOLD = 3.841459
COMPILED: list[str] = []
jax.monitoring.register_event_duration_secs_listener(
    lambda event, duration, **more: COMPILED.append(event) if "backend_compile" in event else None
)


def run(speed: np.ndarray, volts: np.ndarray, noise: np.ndarray) -> sysid.Log:
    """A winding that carries (V - K w) / R, and its ammeter."""
    current = (volts - CONSTANT * speed) / RESISTANCE + noise
    return log({"time": 0.002 * np.arange(ROWS), "voltage": volts, "current": current, "velocity": speed})


def fitted(made: sysid.Log, *profile: str) -> sysid.Fit:
    return sysid.fit(made, free=["resistance", "motor_constant"], replay=True, starts=4, profile=profile)


def misfit(made: sysid.Log, resistance: float, constant: float, sigma: float) -> float:
    """Quadratic within two sigma, linear beyond."""
    gap = (made.channels["voltage"] - constant * made.channels["velocity"]) / resistance - made.channels["current"]
    return float(np.sum(4 * (np.sqrt(1 + (gap / sigma / 2) ** 2) - 1)))


def valley(made: sysid.Log, sigma: float, inflation: float, which: int):
    """Rise of the misfit over one of the two, the other at its best."""
    start = [np.log(RESISTANCE), np.log(CONSTANT)]

    def cost(x):
        return misfit(made, *np.exp(x), sigma)

    settings = {"method": "Nelder-Mead", "options": {"xatol": 1e-10, "fatol": 1e-10, "maxiter": 4000}}
    least = minimize(cost, start, **settings).fun

    def rise(value):
        at = np.log(value)
        rest = [start[1 - which]]
        best = minimize(lambda x: cost(np.insert(x, which, at)), rest, **settings)
        return 2 * (best.fun - least) / inflation

    return rise


def end(rise, low: float, high: float) -> float:
    """Where the rise passes the threshold."""
    return float(brentq(lambda value: rise(value) - THRESHOLD, low, high, xtol=1e-6))


def rough(seed: int = 3, **changes) -> sysid.Log:
    """A motor near one speed, at which its two constants are hard to tell apart."""
    random = np.random.default_rng(seed)
    speed = 200.0 + 1.0 * np.sin(np.arange(ROWS) / 9)
    volts = CONSTANT * speed + RESISTANCE * (0.2 + 0.02 * np.sin(np.arange(ROWS) / 30))
    noise = changes.get("noise", NOISE * random.standard_normal(ROWS))
    return run(speed, volts, noise)


@pytest.fixture(scope="module")
def bent():
    made = rough()
    return made, fitted(made, "resistance", "motor_constant")


def test_ends_are_those_of_the_valley_in_closed_form(bent):
    made, result = bent
    for which, profile in enumerate(result.profiles):
        rise = valley(made, result.noise["current"], profile.inflation, which)
        at = profile.estimate
        assert profile.ci95[0] == pytest.approx(end(rise, at / 3, at), rel=0.003)
        assert profile.ci95[1] == pytest.approx(end(rise, at, at * 3), rel=0.003)
        for value, found in zip(profile.values, profile.rise, strict=True):
            assert found == pytest.approx(rise(value), abs=0.02 + 0.01 * found)
    resistance = result.profiles[0]
    assert resistance.partner is None
    words = in_words(resistance)
    assert words.startswith("resistance: ")
    assert words.endswith("ohm (95 %)")
    entry = result.to_dict()["profiles"]["resistance"]
    assert entry["ci95"] == list(resistance.ci95)
    assert entry["values"] == sorted(entry["values"])
    assert len(entry["values"]) == len(entry["rise"]) == len(entry["others"]["motor_constant"])


def test_nothing_compiles_for_another_parameter_or_log(bent):
    compiled = len(COMPILED)
    again = fitted(rough(seed=4), "motor_constant", "resistance")
    assert len(COMPILED) == compiled
    assert [profile.name for profile in again.profiles] == ["motor_constant", "resistance"]


def test_a_side_without_an_end_is_said():
    # A shaft that hardly turns: its constant can be anything from nothing to what would show.
    random = np.random.default_rng(5)
    volts = np.repeat(random.uniform(-3, 3, ROWS // 20), 20)
    made = run(0.1 * np.sin(np.arange(ROWS) / 15), volts, NOISE * random.standard_normal(ROWS))
    result = fitted(made, "motor_constant", "resistance")
    constant, resistance = result.profiles
    low, high = constant.ci95
    assert low is None
    rise = valley(made, result.noise["current"], constant.inflation, 1)
    assert high == pytest.approx(end(rise, 1e-3, 10.0), rel=0.01)
    assert "no lower end" in in_words(constant)
    assert "at most" in in_words(constant)
    assert None not in resistance.ci95
    codes = {caution.code: caution for caution in result.cautions}
    assert codes["profile_open"].parameters == ("motor_constant",)
    assert result.status == "warning"


def test_memory_of_the_residuals_widens_the_interval():
    white = np.random.default_rng(6).standard_normal(ROWS)
    slow = NOISE * np.asarray(lfilter([np.sqrt(1 - 0.8**2)], [1.0, -0.8], white))
    random = np.random.default_rng(6)
    speed = np.repeat(random.uniform(-200, 200, ROWS // 20), 20)
    made = run(speed, CONSTANT * speed + np.repeat(random.uniform(-3, 3, ROWS // 20), 20), slow)
    result = fitted(made, "resistance")
    (profile,), estimate = result.profiles, result.estimates[0]
    # Over twenty rows the sum of a process of lag-one memory 0.8 has 1 + 2 sum (1 - k/20) 0.8^k = 7 times the variance
    # of white noise. A loss that bends at one sigma counts z^2 / (1 + z^2), 0.34 on average, over a curvature of 0.55.
    assert profile.inflation == pytest.approx(7 * 0.34 / 0.55, rel=0.25)
    np.testing.assert_allclose(profile.ci95, estimate.ci95, rtol=0.03 * (np.ptp(estimate.ci95) / estimate.value))
    assert not profile_cautions(result.profiles, result.estimates)


def test_a_name_that_is_not_free_is_refused():
    with pytest.raises(sysid.ModelError, match="free are resistance, motor_constant") as raised:
        fitted(rough(), "inertia")
    assert "\n" not in str(raised.value)
