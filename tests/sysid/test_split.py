"""A fit over the logs of several devices is the fit of one."""

import numpy as np
import pytest

from .forced_devices import printed_by

DEVICES = """
import json, sys
import jax
jax.config.update("jax_enable_x64", True)
import numpy as np
import sysid
from jax.sharding import Mesh
from sysid import _linearized
sys.path.insert(0, sys.argv[1])
import motor_logs
logs = [motor_logs.log(motor_logs.brushed(seed=k, rows=120), name=str(k)) for k in range(8)]
model, run, parts = sysid.choose_model(logs[:1]), _linearized._program, []

def told(*given):
    found = run(*given)
    place, shape = found.residuals.sharding, found.residuals.shape
    parts.append([len(place.device_set), place.shard_shape(shape)[1]])
    return found

told.lower = run.lower

_linearized._program = told
found = []
for count, devices in ((8, 8), (6, 8), (8, 1)):
    parts.clear()
    mesh = None if devices == 8 else Mesh(np.array(jax.devices()[:devices]), ("any",))
    fit = sysid.fit(logs[:count], model=model, starts=2, mesh=mesh)
    found.append([[e.value for e in fit.estimates], [e.std_error for e in fit.estimates], parts[:]])
print(json.dumps([len(jax.devices()), found]))
"""


@pytest.mark.slow
def test_eight_devices_share_the_logs_and_find_what_one_finds():
    devices, (eight, six, one) = printed_by(DEVICES)
    assert devices == 8
    np.testing.assert_allclose(eight[0], one[0], rtol=1e-6)
    np.testing.assert_allclose(eight[1], one[1], rtol=1e-4)
    # Pieces on a device, of as many devices: one of each of eight, one of each of six.
    for parts, expected in ((eight[2], [8, 1]), (six[2], [6, 1]), (one[2], [1, 8])):
        assert len(parts) > 5
        assert all(part == expected for part in parts)
