"""Rollouts split over devices, and over two processes, without a line of theirs changed."""

import json
import os
import socket
import subprocess
import sys

import numpy as np
import pytest

COMMON = """
import json, sys
import jax
jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp
import numpy as np
import jaxmotor as jm
from jax.sharding import Mesh, NamedSharding, PartitionSpec

MOTORS, ROWS = 16, 50

def bench():
    actuator = jm.Actuator(
        jm.Motor(jm.Inductive(), jm.LumpedThermal(), bristle=jm.LuGre()), jm.VoltageDrive(), drag=jm.ViscousDrag()
    )
    params = jm.ActuatorParams(
        jm.MotorParams(
            jm.InductiveParams(0.6, 0.04, 0.04, 2e-4),
            jm.LumpedThermalParams(4.0, 40.0, 0.0039),
            bristle=jm.LuGreParams(30.0, 0.05, 0.004, 0.006, 1.0),
        ),
        drag=jm.ViscousDragParams(1e-5),
    )
    return jm.Bench(actuator, jm.RigidLoad()), jm.BenchParams(params, jm.RigidLoadParams(1e-4))

def inputs():
    spread = np.linspace(0.8, 1.2, MOTORS)
    params = jax.tree.map(lambda x: np.asarray(x) * spread, bench()[1])
    return params, 5 * np.sin(0.1 * np.arange(ROWS)) * spread[:, None]

@jax.jit
@jax.vmap
def run(params, ctrl):
    made, _ = bench()
    state, out = jm.rollout(made, made.init(params), params, ctrl, 1e-3)
    _, again = jm.replay(made.actuator, made.actuator.init(params.actuator), params.actuator, ctrl, out.qpos, out.qvel,
                         1e-3)
    return state.qpos, out.qvel, again.motor_torque, out.result
"""

EIGHT = (
    COMMON
    + """
place = NamedSharding(Mesh(np.array(jax.devices()), ("motor",)), PartitionSpec("motor"))
params, ctrl = inputs()
split = run(*jax.device_put((params, ctrl), place))
alone = run(*jax.device_put((params, ctrl), jax.devices()[0]))
gradient = jax.jit(jax.grad(lambda p, c: jnp.sum(run(p, c)[1] ** 2)))(*jax.device_put((params, ctrl), place))
parts = [
    [len({s.device for s in x.addressable_shards}), x.addressable_shards[0].data.shape[0]]
    for x in (*split, *jax.tree.leaves(gradient))
]
gaps = [
    float(np.max(np.abs(np.asarray(a) - np.asarray(b))) / (np.max(np.abs(np.asarray(b))) + 1e-300))
    for a, b in zip(split[:3], alone[:3])
]
print(json.dumps([parts, gaps]))
"""
)

TWO = (
    COMMON
    + """
jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize("localhost:" + sys.argv[1], 2, int(sys.argv[2]))
place = NamedSharding(Mesh(np.array(jax.devices()), ("motor",)), PartitionSpec("motor"))
whole = inputs()
own = jax.tree.map(lambda x: jax.make_array_from_callback(x.shape, place, lambda part: x[part]), whole)
speeds = run(*own)[1]
alone = np.asarray(run(*jax.device_put(whole, jax.local_devices()[0]))[1])
(shard,) = speeds.addressable_shards
gap = float(np.max(np.abs(np.asarray(shard.data) - alone[shard.index])))
total = float(jax.jit(jnp.sum)(speeds))
print(json.dumps([jax.process_count(), list(shard.data.shape), gap, total, float(alone.sum())]))
"""
)


def environment(devices):
    return {**os.environ, "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}", "JAX_PLATFORMS": "cpu"}


def test_eight_devices():
    ran = subprocess.run(
        [sys.executable, "-c", EIGHT], env=environment(8), capture_output=True, text=True, check=False, timeout=300
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    parts, gaps = json.loads(ran.stdout.splitlines()[-1])
    assert all(part == [8, 2] for part in parts)
    assert max(gaps) < 1e-12


def test_two_processes():
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = str(free.getsockname()[1])
    started = [
        subprocess.Popen(
            [sys.executable, "-c", TWO, port, str(rank)],
            env=environment(1),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in (0, 1)
    ]
    try:
        ended = [process.communicate(timeout=300) for process in started]
    finally:
        for process in started:
            process.kill()
    for process, (out, err) in zip(started, ended, strict=True):
        assert process.returncode == 0, err[-2000:]
        processes, shape, gap, total, alone = json.loads(out.splitlines()[-1])
        assert processes == 2
        assert shape == [8, 50]
        assert gap < 1e-12
        assert total == pytest.approx(alone, rel=1e-12)
        np.testing.assert_array_less(0, abs(total))
