"""What every stage promises, over every concrete class of the package."""

import inspect

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from .stage_examples import (
    cast,
    concrete_classes,
    every_example,
    examples,
    floats,
    package_modules_classes,
)

EVERY = pytest.mark.parametrize(
    ("cls", "index"), every_example(), ids=lambda x: x.__name__ if isinstance(x, type) else str(x)
)


def test_every_concrete_class_has_an_example():
    missing = {cls.__name__ for cls in concrete_classes()} - {cls.__name__ for cls in examples()}
    assert not missing, f"no example in tests/stage_examples.py for {sorted(missing)}"


def _like(tree):
    return jax.tree.map(lambda x: (x.shape, x.dtype), tree)


@EVERY
def test_module_is_structure(cls, index):
    assert not jax.tree.leaves(examples()[cls][index].module)


@EVERY
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64], ids=["32", "64"])
def test_keeps_structure_shape_and_dtype(cls, index, dtype):
    example = examples()[cls][index]
    for arguments in (example.arguments(dtype), example.resting(dtype)):
        state, out = eqx.filter_eval_shape(example.call, example.module, *arguments)
        assert _like(state) == _like(arguments[0])
        kinds = {x.dtype for x in jax.tree.leaves(out)}
        assert kinds <= {jnp.dtype(dtype), jnp.dtype(jnp.int32), jnp.dtype(bool)}, kinds


@EVERY
def test_vmap_equals_a_loop(cls, index):
    example = examples()[cls][index]
    arguments = example.arguments()

    def scaled(k):
        return jax.tree.map(lambda x: x * (1 + 0.07 * k) if jnp.issubdtype(x.dtype, jnp.floating) else x, arguments)

    rows = [scaled(k) for k in range(3)]
    batch = jax.tree.map(lambda *xs: jnp.stack(xs), *rows)
    call = jax.jit(example.call)
    together = jax.jit(jax.vmap(example.call, in_axes=(None, 0, 0, 0, 0, 0, 0)))(example.module, *batch)
    for k, row in enumerate(rows):
        alone = call(example.module, *row)
        for got, expected in zip(jax.tree.leaves(together), jax.tree.leaves(alone), strict=True):
            np.testing.assert_allclose(got[k], expected, rtol=1e-12, atol=1e-14)


@EVERY
def test_one_trace_for_a_rebuilt_equal_module(cls, index):
    traces = []

    @jax.jit
    def run(module, call_arguments):
        traces.append(1)
        return example.call(module, *call_arguments)

    for example in (examples()[cls][index], examples()[cls][index]):
        run(example.module, example.arguments())
        shifted = list(example.arguments())
        shifted[1] = jax.tree.map(lambda x: 1.01 * x, shifted[1])
        run(example.module, tuple(shifted))
    assert len(traces) == 1


def _as_function(example, arguments):
    """(f, x): the float outputs as a function of every float input."""
    dynamic, static = eqx.partition(arguments, eqx.is_inexact_array)
    x, unravel = jax.flatten_util.ravel_pytree(dynamic)
    leaves = jax.tree_util.tree_leaves_with_path(dynamic)
    names = [jax.tree_util.keystr(path) for path, leaf in leaves for _ in range(leaf.size)]
    return lambda x: floats(example.call(example.module, *eqx.combine(unravel(x), static))), x, names


@EVERY
def test_gradient_is_finite_at_rest(cls, index):
    example = examples()[cls][index]
    f, x, _ = _as_function(example, example.resting())
    if f(x).size:
        assert np.all(np.isfinite(jax.jit(jax.jacrev(f))(x)))
        assert np.all(np.isfinite(jax.jit(jax.jacfwd(f))(x)))


@EVERY
def test_gradient_is_the_central_difference(cls, index):
    example = examples()[cls][index]
    f, x, names = _as_function(example, example.arguments())
    outputs = jax.jit(f)(x)
    if not outputs.size:
        return
    exact = np.asarray(jax.jit(jax.jacrev(f))(x))
    steps = 1e-3 * jnp.where(x == 0, 1.0, jnp.abs(x))
    shifts = jnp.diag(steps)
    batched = jax.jit(jax.vmap(f))

    def slope(width):
        rise = batched(x[None] + width * shifts) - batched(x[None] - width * shifts)
        return np.asarray(rise / (2 * width * steps[:, None])).T

    # Richardson's extrapolation removes the error of the third derivative.
    numeric = (4 * slope(0.5) - slope(1.0)) / 3
    rounding = 50 * np.finfo(float).eps * (np.abs(outputs)[:, None] + 1e-9) / np.asarray(steps)
    wrong = np.abs(exact - numeric) > 1e-6 * np.abs(exact) + rounding
    assert not wrong.any(), {names[column]: (exact[:, column], numeric[:, column]) for column in np.nonzero(wrong)[1]}


@pytest.mark.parametrize("cls", list(package_modules_classes()), ids=lambda c: c.__name__)
def test_abstract_or_final(cls):
    parents = [
        base for base in cls.__mro__[1:] if base.__module__.startswith("jaxmotor") and issubclass(base, eqx.Module)
    ]
    for base in parents:
        assert base.__name__.startswith("Abstract"), f"{cls.__name__} subclasses the concrete {base.__name__}"
    for name, member in vars(cls).items():
        if name.startswith("__") or not (inspect.isfunction(member) or isinstance(member, property)):
            continue
        for base in parents:
            inherited = vars(base).get(name)
            concrete = inherited is not None and not getattr(inherited, "__isabstractmethod__", False)
            assert not concrete, f"{cls.__name__}.{name} overrides the concrete {base.__name__}.{name}"
    if not cls.__name__.startswith("Abstract"):
        assert not inspect.isabstract(cls)


def test_a_cast_example_keeps_its_integers():
    assert cast((1.0, True), jnp.float32)[1].dtype == bool
