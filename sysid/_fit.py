"""Fit a motor's parameters to its logs."""

import dataclasses
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh

import jaxmotor as jm

from ._adjust import adjusted
from ._begin import begin, scouts
from ._channel_scales import NOISE_LIKE, balanced, misfit_of, off
from ._compile_ahead import compile_ahead
from ._conclude import chosen, conclude, judge
from ._defect import moved_to_finer
from ._errors import ModelError
from ._finer import refined
from ._free import Free, free as free_named, places
from ._halves import better, distinct, first_leg, side_by_side, solve_in_parts
from ._hop import hopped
from ._legs import legs
from ._linearized import linearized, seen
from ._log import Log
from ._mirror import upright
from ._model import Model
from ._normal_equations import Point
from ._problem import Jacobian, Problem
from ._profile import profile_cautions, profiled_coordinates, profiles
from ._remainder import named
from ._rest import one_step_further
from ._result import Fit
from ._setup import BEND, Setup, settings, setup, torque_constant
from ._single_logs import single_logs, spread_cautions
from ._solve import Solver, Stage, solve
from ._solvers import solver_named
from ._split import split
from ._start import regressed
from ._timing import compile_seconds
from ._windows import scales
from ._with_friction import with_friction

_COMMANDS: dict[type, str] = {jm.VoltageDrive: "voltage", jm.DutyDrive: "duty", jm.TorqueDrive: "torque"}
_WALKED_ROWS = 32_768
"""Rows [1] over which all starts walk; with more than twice as many only the best start sees them all."""

_ON_THE_WAY = 1e-4
"""Share of the cost that an iteration must gain on a leg that is not the last: more would be gained in other units."""

_POLISHED = 1e-5
"""Share of the cost that a step must gain next to the optimum, where each gains the square of what the last did."""

_STEP_TOLERANCE = 0.5
_MOST_HOPS = 8
_HOP_GAIN = 1e-3
"""Share of the cost that a delay some rows away must save to be taken."""

_STEP_SHARE = 0.3
_MOST_SUBSTEPS = 16


def _silent(words: str, iteration: int, cost: float) -> None:
    del words, iteration, cost


def _model(
    logs: Sequence[Log],
    model: Model | None,
    bench: jm.Bench | None,
    params: jm.BenchParams | None,
    free: Free | Iterable[str] | None,
    command: str | None,
    fix: Mapping[str, float] | None,
    friction: str | None,
) -> Model:
    """The model of a fit, from whichever way it was given."""
    if model is None and bench is None:
        from ._choose import choose_model

        model = choose_model(logs)
    elif model is None:
        if bench is None or params is None:
            raise ModelError("a bench was given without its params")
        controller = type(bench.actuator.controller)
        words = f"{controller.__name__} given by the caller"
        model = Model(bench, params, Free(()), words, _COMMANDS.get(controller, "command"))
    model = model if friction is None else with_friction(model, friction)
    if free is not None:
        model = dataclasses.replace(model, free=free if isinstance(free, Free) else free_named(model.subject, free))
    if command is not None:
        model = dataclasses.replace(model, command=command)
    model = adjusted(model, fix=fix) if fix else model
    if not model.free.names:
        raise ModelError(f"no parameter is free; the model has {', '.join(sorted(places(model.subject)))}")
    return model


def fit(
    logs: Log | Sequence[Log],
    bench: jm.Bench | None = None,
    params: jm.BenchParams | None = None,
    free: Free | Iterable[str] | None = None,
    hold_out: Log | Sequence[Log] = (),
    *,
    model: Model | None = None,
    command: str | None = None,
    outputs: Sequence[str] | None = None,
    fix: Mapping[str, float] | None = None,
    seed: int = 0,
    starts: int = 6,
    iterations: int = 60,
    solver: str | optax.GradientTransformation = "levenberg-marquardt",
    substeps: int | None = None,
    replay: bool = False,
    window: float | None = None,
    friction: str | None = None,
    profile: Sequence[str] = (),
    each_log: bool = True,
    mesh: Mesh | None = None,
    progress: Callable[[str, int, float], None] = _silent,
) -> Fit:
    """Fit the free parameters of a model to logs.

    **Arguments:**

    - `logs`: what is fitted, jointly; `hold_out`: what is only predicted.
    - `bench`, `params`, `free`: the model, its values and what may move (a `Free` or names); or `model`; with neither,
      a model is chosen from the channels of the logs.
    - `command`: the channel that drives the bench; `outputs`: the channels compared (all measured ones the model
      predicts).
    - `fix`: parameters held at a value [SI unit].
    - `seed`, `starts`: of the random starts: half as many where these end alike on short windows, others join where
      they end apart; `iterations`: bound on the last leg of the walk; `solver`: a word or an Optax transformation;
      `substeps` of the bench per row, `None` for as many as leave the estimates within half a standard error of where
      half the step would put them, and for one where the model has a grid.
    - `replay`: return to the measured motion at every row, so that only current and temperature are predicted.
    - `window` [s]: cut logs into pieces of near this length, each with an initial angle and speed of its own, which
      its own rows tell, in `hold_out` too.
    - `friction`: a name in `FRICTION_MODELS` (BAM's M1 to M6, LuGre) in place of the model's own.
    - `profile`: names of free parameters whose profile likelihood is wanted.
    - `each_log`: of several logs, fit each by itself as well, to tell how far apart they are.
    - `mesh`: devices among which logs and windows are divided; all of this process's devices if `None`.
    - `progress(words, iteration, cost)`: called after every iteration.

    **Returns:** a `Fit`. **Raises:** `ModelError`, `LogError` for what cannot be fitted, before anything is computed.
    """
    if not jax.config.read("jax_enable_x64"):
        raise ModelError('fit needs float64: run jax.config.update("jax_enable_x64", True) before it')
    begun, compiled = time.perf_counter(), compile_seconds()
    logs = [logs] if isinstance(logs, Log) else list(logs)
    held = [hold_out] if isinstance(hold_out, Log) else list(hold_out)
    if not logs:
        raise ModelError("no log to fit")
    model = _model(logs, model, bench, params, free, command, fix, friction)
    # A law that is written for a grid is that of its steps.
    substeps = 1 if substeps is None and model.grid is not None else substeps
    made = setup(model, logs, outputs=outputs, substeps=substeps or 1, replay=replay, window=window)
    profiled = profiled_coordinates(made, profile)
    if held:
        # Refused here rather than after the fit.
        setup(model, held, like=made)
    logs = list(made.logs)
    beginning = (
        model.free,
        made.problem.owner,
        [parameter.start for parameter in model.free.parameters],
        regressed(logs, torque_constant(model)),
        len(made.cut),
        len(made.problem.batch.initial),
    )
    points = begin(*beginning, starts, seed)
    walk, mover = legs(made, replay, iterations), solver_named(solver)
    whole = dataclasses.replace(walk[-1], words="last leg")
    on_the_way = max(whole.gain, _ON_THE_WAY) if mover.normal_equations else whole.gain
    walk = [*walk[:-1], dataclasses.replace(walk[-1], gain=on_the_way)]
    reverse = not mover.normal_equations
    made = dataclasses.replace(made, problem=split(made.problem, mesh))
    if mover.normal_equations:
        made = dataclasses.replace(made, problem=made.problem.faster())
    problem = made.problem.stepped(substeps or 1, reverse)
    some, lanes = _part(made), side_by_side(mover, starts, len(walk))
    points, values, trace = _walked(
        made, problem, points, lambda count: scouts(*beginning, count, seed), walk, mover, progress, some
    )
    if len(some) < len(made.cut):
        lanes = 1
        points, values = _spread_out(points, values, some, len(made.cut)), np.zeros(1)
    problem = eqx.tree_at(lambda p: p.reset, problem, jnp.asarray(walk[-1].reset))
    points, values, problem, misfit, ended, more = _balanced(made, problem, points, values, mover, whole, progress)
    trace += more
    for _ in range(_MOST_HOPS):
        around = hopped(made, chosen(points, values), lanes)
        if around is None:
            break
        least = float(np.nanmin(values))
        hop = dataclasses.replace(whole, words="delay", gain=on_the_way)
        moved, ends, more = solve(mover, problem, around, [hop], progress)
        trace += more
        if not np.nanmin(ends) < least * (1 - _HOP_GAIN):
            break
        # The channels are counted anew: what the delay spoiled was no measure.
        unscaled = eqx.tree_at(lambda p: p.scales, problem, made.problem.scales)
        points, values, problem, misfit, ended, more = _balanced(made, unscaled, moved, ends, mover, whole, progress)
        trace += more
    while True:
        count, side = int(problem.substeps), _lanes(mover, points)
        judged = judge(made, problem, points, values, ended, side)
        shift, share = judged.shift, judged.here.step_share
        # A model that is far off the log gains nothing from a finer step, unless the step is what puts it off.
        rough = max(misfit.values()) > NOISE_LIKE**2 and share < _STEP_SHARE
        if share > _STEP_SHARE:
            shift = max(shift, 2 * _STEP_TOLERANCE)
        if substeps is not None or rough or shift <= _STEP_TOLERANCE or count >= _MOST_SUBSTEPS:
            break
        # The error of a second-order step falls fourfold with each halving.
        halvings = int(np.ceil(np.log(shift / _STEP_TOLERANCE) / np.log(4)))
        count = min(count * 2**halvings, _MOST_SUBSTEPS)
        coarse, finer = problem, dataclasses.replace(whole, words=f"{count} steps per row")
        problem = eqx.tree_at(lambda p: p.scales, coarse.stepped(count, reverse), made.problem.scales)
        polished = dataclasses.replace(finer, gain=_POLISHED, patience=1)
        if problem.whole:
            points, values, problem, misfit, ended, more = refined(
                made, coarse, problem, points, values, mover, polished, progress
            )
            trace += more
            continue
        if mover.normal_equations:
            points, values, more = moved_to_finer(coarse, problem, points, values, mover, finer, progress)
            finer, trace = polished, trace + more
        points, values, problem, misfit, ended, more = _balanced(made, problem, points, values, mover, finer, progress)
        trace += more
    chosen_settings = settings(
        made.roles,
        seed=seed,
        starts=starts,
        iterations=iterations,
        substeps=count,
        replay=replay,
        window=window,
        solver=mover.name,
    )
    result = conclude(made, problem, judged, held, misfit, trace, chosen_settings, side)
    best, here = judged.point, judged.here
    valleys = profiles(made, problem, best, here, profiled, lanes, progress)
    shapes = named(made, problem, best, here, misfit, lanes)
    spreads = single_logs(made, problem, best, here, lanes, progress) if each_log else []
    more = (*shapes, *spread_cautions(spreads), *profile_cautions(valleys, result.estimates))
    spent = compile_seconds() - compiled
    timing = {"compile_s": spent, "solve_s": time.perf_counter() - begun - spent}
    return dataclasses.replace(
        result,
        timing=timing,
        profiles=tuple(valleys),
        spreads=tuple(spreads),
        cautions=(*result.cautions, *more),
    )


def _lanes(mover: Solver, points: Point) -> int:
    """For how many starts the solver's program looks around."""
    return points.coordinates.shape[0] if mover.normal_equations else 1


def _first(points: Point, count: int) -> Point:
    return Point(points.coordinates[:count], points.initial[:count])


def _part(made: Setup) -> np.ndarray:
    """Which pieces the starts walk over: all, or of very long logs so many that one polish on the whole is left."""
    pieces, rows = made.problem.batch.dt.shape
    wanted = max(1, _WALKED_ROWS // rows)
    return np.arange(pieces) if pieces <= 2 * wanted else np.linspace(0, pieces - 1, wanted).astype(int)


def _spread_out(points: Point, values: np.ndarray, some: np.ndarray, pieces: int) -> Point:
    """The best start as the only one, with initial states for all pieces."""
    best = chosen(points, values)
    initial = jnp.zeros((1, pieces, best.initial.shape[-1])).at[0, some].set(best.initial)
    return Point(best.coordinates[None], initial)


def _walked(
    made: Setup,
    problem: Problem,
    points: Point,
    more_starts: Callable[[int], Point],
    walk: Sequence[Stage],
    mover: Solver,
    progress: Callable[[str, int, float], None],
    some: np.ndarray,
) -> tuple[Point, np.ndarray, list[tuple[str, int, float]]]:
    """The walk over `some` of the pieces, each leg in units of how far off the best start is when it begins.

    Far from the optimum the noise of a sensor is no measure: a loss that is already linear there has kinks and local
    minima where a quadratic one is a bowl. On the first leg `more_starts` may join; the better half of the starts
    goes on to the last leg.
    """
    if len(some) < len(made.cut):
        points = Point(points.coordinates, points.initial[:, some])
        batch = jax.tree_util.tree_map(lambda x: x[some], problem.batch)
        problem = dataclasses.replace(problem, batch=batch, reset=problem.reset[some], counts=problem.counts[some])
        walk = [dataclasses.replace(stage, reset=stage.reset[some]) for stage in walk]

    def joining(number: int) -> Point:
        found = more_starts(number)
        return Point(found.coordinates, found.initial[:, some])

    count = points.coordinates.shape[0]
    lanes, values, trace = side_by_side(mover, count, len(walk)), np.zeros(count), []
    compile_ahead(mover, problem, _first(points, lanes))
    at = chosen(points, -np.arange(count))
    for stage in walk:
        if stage is walk[-1]:
            points = better(points, values, lanes)
        staged = eqx.tree_at(lambda p: p.reset, problem, jnp.asarray(stage.reset))
        around = seen(staged, at, lanes=lanes if mover.normal_equations else 1)
        _, spread = off(staged, np.asarray(around.residuals))
        sigma = {c: made.noise[c] * spread[c] for c in made.noise}
        scaled = eqx.tree_at(lambda p: p.scales, staged, scales(sigma, dict.fromkeys(sigma, BEND)))
        if stage is walk[0]:
            points, values, more = first_leg(mover, scaled, points, stage, joining, progress, lanes)
        else:
            points, values, more = solve_in_parts(mover, scaled, points, stage, progress, lanes)
        points = upright(made, points)
        if problem.whole:
            # They walk one after the other: who goes where another went costs time.
            points, values = distinct(points, values)
        at, trace = chosen(points, values), trace + more
    return points, values, trace


def _balanced(
    made: Setup,
    problem: Problem,
    points: Point,
    values: np.ndarray,
    mover: Solver,
    last: Stage,
    progress: Callable[[str, int, float], None],
) -> tuple[Point, np.ndarray, Problem, dict[str, float], Jacobian, list[tuple[str, int, float]]]:
    """The last leg, each channel counted by how well the model can follow it, and linear beyond its sensor's noise.

    In units of sensor noise alone, the channel that is furthest off would rule; where the residuals are the noise,
    those are the units. Also returns the mean square residual per channel in sensor noise, and the problem around the
    best end.
    """
    if not problem.whole:
        compile_ahead(mover, problem, points)
    begun = seen(problem, chosen(points, values), lanes=_lanes(mover, points))
    scaled = balanced(made, problem, begun)
    points, values, trace = solve(mover, scaled, points, [last], progress)
    ended = linearized(scaled, chosen(points, values), lanes=_lanes(mover, points))
    points = one_step_further(scaled, points, values, ended) if mover.normal_equations else points
    return points, values, scaled, misfit_of(made, scaled, ended), ended, trace
