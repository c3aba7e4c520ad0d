"""What importing the package does to the process: almost nothing."""

import os
import subprocess
import sys

import pytest

PROBE = """
import os, sys, time
before = time.perf_counter()
import jax
flag, wide = jax.config.jax_enable_x64, jax.config.jax_numpy_dtype_promotion
import jaxmotor as jm
elapsed = time.process_time()
assert jax.config.jax_enable_x64 == flag, "the 64-bit flag moved"
assert jax.config.jax_numpy_dtype_promotion == wide
heavy = {"matplotlib", "polars", "optax", "mujoco", "scipy", "pint", "pandas"} & set(sys.modules)
assert not heavy, heavy
import numpy as np
kinds = {jm.ViscousDragParams(make(2.0)).viscous_damping.dtype.name for make in (float, np.float64, np.float32)}
print(sorted(kinds), elapsed)
"""


@pytest.mark.parametrize(("flag", "kind"), [("0", "float32"), ("1", "float64")])
def test_import_is_light_and_touches_no_flag(flag, kind):
    """Case P32, in a fresh interpreter."""
    environment = os.environ | {"JAX_ENABLE_X64": flag}
    done = subprocess.run([sys.executable, "-c", PROBE], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    kinds, seconds = done.stdout.rsplit(" ", 1)
    assert kinds == f"['{kind}']"
    # Time of the processor, jax included; wall-clock time on a busy machine says nothing.
    assert float(seconds) < 2.5
