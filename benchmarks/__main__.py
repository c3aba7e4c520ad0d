"""Measure everything: `python -m benchmarks [--quick] [--out FILE]` prints a table and writes JSON."""

import argparse
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
os.environ.setdefault("JAX_PLATFORMS", "cpu")
# A device per core, for the rows that use all cores; set before JAX looks.
os.environ.setdefault("XLA_FLAGS", f"--xla_force_host_platform_device_count={os.cpu_count()}")

import jax
import numpy as np
from derivatives import compiling, derivatives, memory
from forward import LAWS, forward
from measure import machine

_ROWS = {1: 20_000, 64: 5000, 4096: 500, 65_536: 50}


def _said(row):
    head = f"{row['what']:11s} {row['motor']:10s} {row.get('batch', 1):6d} x {row.get('rows', 0):5d} "
    step = "  ".join(f"{side} {ns:.4g} ns" for side, ns in row.get("ns_per_step", {}).items())
    ratios = "  ".join(f"{name} {ratio:.3g}" for name, ratio in row["ratios"].items())
    return f"{head} {row.get('float', 'float32'):8s} {step}  |  {ratios}"


def _rows(quick, repeats):
    batches = [4096] if quick else list(_ROWS)
    for dtype in (np.float32,) if quick else (np.float32, np.float64):
        for name in LAWS:
            for batch in batches:
                yield forward(name, batch, _ROWS[batch] // (5 if quick else 1), dtype, repeats)
    for dtype in (np.float32,) if quick else (np.float32, np.float64):
        for name in ("full",) if quick else LAWS:
            for batch in (4096,) if quick else (1, 64, 4096):
                yield derivatives(name, batch, min(_ROWS[batch], 1000) // (5 if quick else 1), dtype, repeats)
    yield memory(2000 if quick else 20_000, 256, 45 if quick else 141, 2)
    yield compiling()


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the rows that tests look at")
    parser.add_argument("--out", default="benchmarks.json", help="where the JSON goes")
    parser.add_argument("--repeats", type=int, default=7)
    given = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    where, rows = machine(), []
    print(", ".join(f"{key} {value}" for key, value in where.items()))
    for row in _rows(given.quick, given.repeats):
        print(_said(row), flush=True)
        rows.append(row)
        with open(given.out, "w", encoding="utf-8") as file:
            json.dump(where | {"load_after": machine()["load"], "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
