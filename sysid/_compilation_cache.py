"""Compiled programs kept from one command to the next."""

import os
import pathlib
import sys


def folder() -> pathlib.Path:
    """Where this user's caches belong on this system."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or pathlib.Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = pathlib.Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "jaxmotor" / "compiled"


def prepare(cache: bool) -> None:
    """Float64, which a fit needs, and the cache of compiled programs unless it is turned off or has no place."""
    # XLA warns of every compiled program that another machine type may have made.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import jax

    jax.config.update("jax_enable_x64", True)
    if not cache:
        return
    place = folder()
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    if os.access(place, os.W_OK):
        jax.config.update("jax_compilation_cache_dir", str(place))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.05)
