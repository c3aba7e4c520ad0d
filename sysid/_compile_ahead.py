"""The programs of a walk, compiled side by side before it begins."""

import concurrent.futures

import jax.numpy as jnp
import numpy as np

from ._cores import as_caller
from ._linearized import lower_around, lower_seen
from ._normal_equations import Point
from ._problem import Problem
from ._solve import Solver, lower_update
from ._timing import compiling_together


def compile_ahead(solver: Solver, problem: Problem, points: Point) -> None:
    """Compile what a walk of these starts runs, on a core each; where that is done, nothing happens."""
    if problem.whole:
        points = Point(*(jnp.asarray(np.asarray(x)[:1]) for x in (points.coordinates, points.initial)))
    # What one device compiles is no program of several.
    if not solver.normal_equations or len(problem.batch.dt.sharding.device_set) > 1:
        return
    with compiling_together(), concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [
            pool.submit(as_caller(lambda: lower_around(problem, points).compile())),
            pool.submit(as_caller(lambda: lower_update(solver, problem, points).compile())),
        ]
        if problem.whole:
            jobs.append(pool.submit(as_caller(lambda: lower_seen(problem, points).compile())))
        for job in jobs:
            job.result()
