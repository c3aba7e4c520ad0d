"""MuJoCo's own C engine running the full motor, on as many threads as there are cores."""

import os
import time

import numpy as np
from motors import DT, LOAD

MODEL = f"""<mujoco><option timestep="{DT}" integrator="Euler"><flag contact="disable" gravity="disable"/></option>
<worldbody><body><joint name="j" type="hinge" axis="0 0 1"/>
<inertial pos="0 0 0" mass="1" diaginertia="{LOAD} {LOAD} {LOAD}"/></body></worldbody><actuator>
<dcmotor name="m" joint="j" resistance="0.6" motorconst="0.04" gear="10" armature="1e-5" inductance="0 4e-4"
 saturation="1.2 0 2e4" thermal="4 40 0 0.0039 20 25" cogging="0.003 14 0.2" lugre="30 0.05 0.004 0.006 1"
 damping="1e-5 1e-7 1e-9" input="pos" controller="0.4 0.2 0.00133 50 1 20"/></actuator></mujoco>"""


def model():
    import mujoco

    return mujoco.MjModel.from_xml_string(MODEL)


def seconds(ctrl):
    """Seconds for `ctrl`, (motors, rows), and the angles after every row."""
    import mujoco
    from mujoco import rollout

    made = model()
    data = [mujoco.MjData(made) for _ in range(os.cpu_count() or 1)]
    start = np.zeros(mujoco.mj_stateSize(made, mujoco.mjtState.mjSTATE_FULLPHYSICS))
    mujoco.mj_getState(made, data[0], start, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    first, commanded = np.tile(start, (len(ctrl), 1)), np.asarray(ctrl, float)[:, :, None]
    with rollout.Rollout(nthread=len(data)) as pool:
        begun = time.perf_counter()
        states, _ = pool.rollout(made, data, first, commanded)
        return time.perf_counter() - begun, states[:, :, 1]
