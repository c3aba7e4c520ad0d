"""An exported model run in MuJoCo on the commands of a log: how far it is from the log, and from the model fitted."""

from typing import Any

import numpy as np

from ._errors import ModelError
from ._log import Log
from ._model import Model
from ._simulation import simulated


def replayed(text: str, model: Model, log: Log) -> str:
    """One line: the mean error of the position in MuJoCo and of the fitted model on this log.

    **Raises:** `ModelError` where MuJoCo is not installed, or the log has no command or position.
    """
    try:
        import mujoco
    except ImportError:
        raise ModelError("--log needs MuJoCo to replay the exported model: install jaxmotor[mujoco]") from None
    if "position" not in log.channels or model.command not in log.channels:
        raise ModelError(f"{log.name}: a replay needs the channels {model.command} and position")
    language: Any = mujoco
    position = _run(language, language.MjModel.from_xml_string(text), model, log)
    usable, measured = log.masks["position"], log.channels["position"]
    own = simulated(model, log)["position"]
    there, here = (float(np.mean(np.abs(p - measured)[usable])) for p in (position, own))
    return (
        f"on {log.name} the exported model is {1e3 * there:.3g} mrad off (mean), the fitted one {1e3 * here:.3g} mrad"
    )


def _run(mujoco: Any, engine: Any, model: Model, log: Log) -> np.ndarray:
    data = mujoco.MjData(engine)
    offset = float(getattr(model.params.load, "offset", 0.0))
    speed = log.channels.get("velocity", np.gradient(log.channels["position"], log.time))
    # Gravity acts at the true angle, commands and readings are of the sensor.
    data.qpos[0], data.qvel[0] = log.channels["position"][0] + offset, speed[0]
    late = np.interp(log.time - float(model.sensors.delay), log.time, log.channels[model.command])
    on = log.channels.get("torque_enabled", np.ones(len(log))) > 0.5
    gain, bias = engine.actuator_gainprm.copy(), engine.actuator_biasprm.copy()
    servo = bool(np.any(bias))
    found = np.zeros(len(log))
    for row, step in enumerate(log.steps):
        found[row] = data.qpos[0] - offset
        engine.actuator_gainprm[:], engine.actuator_biasprm[:] = (gain, bias) if on[row] else (0 * gain, 0 * bias)
        data.ctrl[0] = late[row] + offset if servo else late[row]
        mujoco.mj_step(engine, data, max(1, round(step / engine.opt.timestep)))
    return found
