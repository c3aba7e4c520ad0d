"""Times that mean something on a busy machine: ratios of the best of many alternating runs."""

import os
import platform
import statistics
import threading
import time

import jax
import numpy as np


def compiled(function, *arguments):
    """The compiled function, and how long lowering and compiling took [s]."""
    begun = time.perf_counter()
    program = jax.jit(function).lower(*arguments).compile()
    return program, time.perf_counter() - begun


def extra_memory(program):
    """What a compiled function needs beside its arguments and results [bytes], as XLA plans it."""
    return program.memory_analysis().temp_size_in_bytes


def race(calls, repeats):
    """Best seconds of each call; the calls take turns, so that what else the machine does falls on all alike."""
    taken = {name: [] for name in calls}
    for call in calls.values():
        jax.block_until_ready(call())
    for _ in range(repeats):
        for name, call in calls.items():
            begun = time.perf_counter()
            jax.block_until_ready(call())
            taken[name].append(time.perf_counter() - begun)
    return {name: {"best": min(seen), "median": statistics.median(seen)} for name, seen in taken.items()}


def free_cores(seconds=0.2):
    """How many cores this process gets when it asks for all of them [1]; what others take is missing."""
    numbers = np.linspace(0, 1, 1 << 14)
    wall, processor = time.perf_counter(), time.process_time()

    def work():
        out = np.empty_like(numbers)
        while time.perf_counter() < wall + seconds:
            np.sin(numbers, out=out)

    threads = [threading.Thread(target=work) for _ in range(os.cpu_count() or 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return (time.process_time() - processor) / (time.perf_counter() - wall)


def machine():
    """What the times belong to."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return {
        "machine": platform.node(),
        "processor": names[0] if names else platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "load": [round(x, 1) for x in os.getloadavg()] if hasattr(os, "getloadavg") else None,
        "backend": jax.default_backend(),
        "jax": jax.__version__,
    }
