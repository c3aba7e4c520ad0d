"""What every stage promises, over every concrete class of the package."""

import inspect

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from .stage_example import cast, concrete_classes, floats, package_modules_classes
from .stage_examples import every_example, examples

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
def test_one_trace_and_vmap_equals_a_loop(cls, index):
    """A rebuilt equal module with other numbers runs the same program, and a batch of them gives the same."""
    traces = []

    @jax.jit
    def run(module, arguments):
        traces.append(1)
        return example.call(module, *arguments)

    def scaled(arguments, k):
        return jax.tree.map(lambda x: x * (1 + 0.07 * k) if jnp.issubdtype(x.dtype, jnp.floating) else x, arguments)

    rows, alone = [], []
    for k in range(3):
        example = examples()[cls][index]
        rows.append(scaled(example.arguments(), k))
        alone.append(run(example.module, rows[-1]))
    assert len(traces) == 1
    batch = jax.tree.map(lambda *xs: jnp.stack(xs), *rows)
    together = jax.jit(jax.vmap(lambda row: example.call(example.module, *row)))(batch)
    for k, row in enumerate(alone):
        for got, expected in zip(jax.tree.leaves(together), jax.tree.leaves(row), strict=True):
            np.testing.assert_allclose(got[k], expected, rtol=1e-12, atol=1e-14)


def _as_function(example):
    """The float outputs as a function of every float input, the excited and the resting input, the inputs' names."""
    dynamic, static = eqx.partition(example.arguments(), eqx.is_inexact_array)
    x, unravel = jax.flatten_util.ravel_pytree(dynamic)
    leaves = jax.tree_util.tree_leaves_with_path(dynamic)
    names = [jax.tree_util.keystr(path) for path, leaf in leaves for _ in range(leaf.size)]

    def outputs(x):
        return floats(example.call(example.module, *eqx.combine(unravel(x), static)))

    return outputs, x, floats(example.resting()), names


@EVERY
def test_gradients(cls, index):
    """Finite at rest, the same forward and reverse, and the central difference for every leaf at an excited state."""
    example = examples()[cls][index]
    f, x, still, names = _as_function(example)
    steps = 1e-3 * jnp.where(x == 0, 1.0, jnp.abs(x))
    shifts = jnp.concatenate([jnp.zeros((1, x.size)), *(k * jnp.diag(steps) for k in (-1.0, -0.5, 0.5, 1.0))])
    values = np.asarray(jax.jit(jax.vmap(f))(x[None] + shifts))
    if not values.size:
        return
    reverse, forward = jax.jit(jax.jacrev(f)), jax.jit(jax.jacfwd(f))
    for resting in (reverse(still), forward(still)):
        assert np.all(np.isfinite(resting))
    exact = np.asarray(reverse(x))
    np.testing.assert_allclose(forward(x), exact, rtol=1e-9, atol=1e-12)
    lowest, low, high, highest = values[1:].reshape(4, x.size, -1)
    # Richardson's extrapolation removes the error of the third derivative.
    numeric = ((8 * (high - low) - (highest - lowest)) / (6 * np.asarray(steps)[:, None])).T
    rounding = 50 * np.finfo(float).eps * (np.abs(values[0])[:, None] + 1e-9) / np.asarray(steps)
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
