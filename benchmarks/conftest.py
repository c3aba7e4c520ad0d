"""`pytest benchmarks --quick`: the ratios that the project promises, each allowed to fall short by 15 %."""

import os
import pathlib
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
# A device per core, for the rows that use all cores; set before JAX looks.
os.environ.setdefault("XLA_FLAGS", f"--xla_force_host_platform_device_count={os.cpu_count()}")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import jax
import pytest

jax.config.update("jax_enable_x64", True)


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="short runs, for a check before a merge")


@pytest.fixture(scope="session")
def quick(request):
    return request.config.getoption("--quick")
