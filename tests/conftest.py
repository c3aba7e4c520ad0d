"""Every test runs in float64 by default, under strict promotion, with warnings as errors and annotations executed."""

import os
import pathlib

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import pytest
from hypothesis import settings
from jaxtyping import install_import_hook

# How long an example takes says something about the machine and its other work, nothing about the code; and a run that
# fails must fail again.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")

# For the whole run, because some modules are imported only when they are first used.
install_import_hook(["jaxmotor", "sysid"], "beartype.beartype")

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")


def _shared_folder() -> pathlib.Path | None:
    named = os.environ.get("JAXMOTOR_SHARED")
    folder = pathlib.Path(named) if named else pathlib.Path(__file__).resolve().parents[2] / "shared"
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def shared() -> pathlib.Path:
    """The folder of reference logs and recorded runs, named by JAXMOTOR_SHARED or lying beside the checkout."""
    folder = _shared_folder()
    if folder is None:
        pytest.skip("reference data absent: set JAXMOTOR_SHARED to its folder")
    return folder
