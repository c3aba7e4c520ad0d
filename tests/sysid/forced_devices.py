"""Programs that see eight devices where there is one processor: XLA takes their number when JAX begins."""

import json
import os
import subprocess
import sys
from typing import Any


def printed_by(program: str) -> Any:
    """What a program prints as its last line, in JSON; its first argument is the folder of these tests."""
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu"}
    ran = subprocess.run(
        [sys.executable, "-c", program, os.path.dirname(__file__)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    return json.loads(ran.stdout.splitlines()[-1])
