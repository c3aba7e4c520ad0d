"""An exported model run in MuJoCo on the commands of a log: how far it is from the log, and from the model fitted."""

from typing import Any

import numpy as np
from scipy.optimize import minimize

from ._errors import ModelError
from ._log import Log
from ._model import Model
from ._simulation import simulated

_TRIED = 60
"""Replays that a search for friction in MuJoCo's words may cost."""


class Replay:
    """An exported model on the commands of a log, in MuJoCo.

    **Raises:** `ModelError` where MuJoCo is not installed, or the log has no command or position.
    """

    def __init__(self, text: str, model: Model, log: Log) -> None:
        try:
            import mujoco
        except ImportError:
            raise ModelError("--log needs MuJoCo to replay the exported model: install jaxmotor[mujoco]") from None
        if "position" not in log.channels or model.command not in log.channels:
            raise ModelError(f"{log.name}: a replay needs the channels {model.command} and position")
        self._mujoco: Any = mujoco
        self._engine: Any = self._mujoco.MjModel.from_xml_string(text)
        self._model, self._log = model, log

    def error(self) -> float:
        """Mean absolute difference of the replayed and the measured position [rad]."""
        return _mean(self._run(), self._log)

    def under(self, frictionloss: float, damping: float) -> float:
        """`error` with this dry friction [N m] and damping [N m s/rad] of the joint."""
        self._engine.dof_frictionloss[:], self._engine.dof_damping[:] = frictionloss, damping
        return self.error()

    def _run(self) -> np.ndarray:
        model, log, engine = self._model, self._log, self._engine
        data = self._mujoco.MjData(engine)
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
            self._mujoco.mj_step(engine, data, max(1, round(step / engine.opt.timestep)))
        engine.actuator_gainprm[:], engine.actuator_biasprm[:] = gain, bias
        return found


def equivalent(text: str, model: Model, log: Log, frictionloss: float, damping: float) -> dict[str, float]:
    """The `frictionloss` [N m] and `damping` [N m s/rad] of the joint under which the exported model follows the log
    best, searched around these.

    The mean of a load-dependent budget is not its best stand-in: what is lost while the arm drops is not what holds it.
    """
    replay = Replay(text, model, log)
    # Noise of steps and contacts would mislead a gradient; two numbers need none.
    begun = np.log([max(frictionloss, 1e-6), max(damping, 1e-6)])
    simplex = begun + np.array([[0.0, 0.0], [0.5, 0.0], [0.0, 0.5]])
    found = minimize(
        lambda x: replay.under(*np.exp(x)),
        begun,
        method="Nelder-Mead",
        options={"maxfev": _TRIED, "initial_simplex": simplex, "xatol": 0.01, "fatol": 1e-6},
    )
    loss, drag = (float(value) for value in np.exp(found.x))
    return {"frictionloss": loss, "damping": drag}


def replayed(text: str, model: Model, log: Log) -> str:
    """One line: the mean error of the position in MuJoCo and of the fitted model on this log.

    **Raises:** as `Replay`.
    """
    there, here = Replay(text, model, log).error(), _mean(simulated(model, log)["position"], log)
    return (
        f"on {log.name} the exported model is {1e3 * there:.3g} mrad off (mean), the fitted one {1e3 * here:.3g} mrad"
    )


def _mean(position: np.ndarray, log: Log) -> float:
    return float(np.mean(np.abs(position - log.channels["position"])[log.masks["position"]]))
