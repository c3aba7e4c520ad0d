"""A command that is not late acts in its own row, by the shorter program; delay and lag keep theirs."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import sysid
from sysid._command_path import DirectCommand, LateCommand
from sysid._normal_equations import Point
from sysid._setup import setup

from . import motor_logs


def made(names=(), **fixed):
    log = motor_logs.log(motor_logs.brushed(rows=150), name="brushed")
    model = sysid.choose_model([log])
    if fixed:
        model = model.adjusted(fix=fixed)
    if names:
        model = dataclasses.replace(model, free=sysid.free(model.subject, names, starts={"delay": 2e-3}))
    return setup(model, [log])


def test_a_direct_command_is_a_late_one_without_delay_and_lag():
    problem = made().problem
    assert isinstance(problem.path, DirectCommand)
    late = dataclasses.replace(problem, path=LateCommand())
    coordinates = made().model.free.coordinates([p.start for p in made().model.free.parameters])
    point = Point(coordinates, jnp.zeros((1, 2)))
    for ours, theirs in zip(
        jax.tree.leaves(eqx.filter_jit(problem.predictions)(point)),
        jax.tree.leaves(eqx.filter_jit(late.predictions)(point)),
        strict=True,
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("names", "fixed"), [(("resistance", "delay"), {}), (("lag",), {}), ((), {"delay": 2e-3}), ((), {"lag": 1e-3})]
)
def test_what_may_be_late_is_a_late_command(names, fixed):
    assert isinstance(made(names, **fixed).problem.path, LateCommand)
