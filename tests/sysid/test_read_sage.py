"""SAGE recordings: two files, all joints in one cell."""

import pathlib
import shutil

import numpy as np
import pytest

from sysid._errors import LogError
from sysid._read import read_log

ROWS = 50


def write(folder: pathlib.Path, *, joints: bool = True) -> pathlib.Path:
    commands, states = ["type,timestamp,positions"], ["type,timestamp,positions,velocities,torques"]
    for row in range(ROWS):
        stamp = 12.5 + 20000.0 * row
        commands.append(f'CONTROL,{stamp},"[{row * 0.1}, {-row * 0.2}]"')
        states.append(
            f'STATE_MOTOR,{stamp + 5.0},"[{row * 0.1 - 0.05}, {-row * 0.2}]","[5.0, {-10.0 - row % 7}]","[0.1, 0.2]"'
        )
    (folder / "wave_control.csv").write_text("\r\n".join(commands) + "\r\n")
    path = folder / "wave_state_motor.csv"
    path.write_text("\r\n".join(states) + "\r\n")
    if joints:
        (folder / "joint_list.txt").write_text("Shoulder\nElbow\n")
    return path


@pytest.mark.parametrize("joint", [1, "1", "Elbow"])
def test_one_joint(tmp_path: pathlib.Path, joint: int | str) -> None:
    log = read_log(write(tmp_path), joint=joint)
    np.testing.assert_allclose(log.time, 0.02 * np.arange(ROWS), atol=1e-9)
    np.testing.assert_allclose(log.channels["command"], -0.2 * np.arange(ROWS))
    np.testing.assert_allclose(log.channels["position"], -0.2 * np.arange(ROWS))
    assert log.columns["position"] == "positions[Elbow] [rad]"
    assert log.units["command"] == "rad"


def test_either_file_of_the_pair(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, joints=False)
    log = read_log(path.with_name("wave_control.csv"), joint=0)
    np.testing.assert_array_equal(log.channels["position"], read_log(path, joint=0).channels["position"])


def test_refusals(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path)
    with pytest.raises(LogError, match=r"choose one with --joint \(0 Shoulder, 1 Elbow\)"):
        read_log(path)
    with pytest.raises(LogError, match="no joint 'Knee'"):
        read_log(path, joint="Knee")
    with pytest.raises(LogError, match="no joint '7'"):
        read_log(path, joint=7)
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(path, alone)
    with pytest.raises(LogError, match=r"wave_control\.csv: missing beside"):
        read_log(alone / path.name, joint=0)


def test_shared_arm(shared: pathlib.Path) -> None:
    log = read_log(shared / "logs" / "real" / "so101_sage" / "single_joint_rotation_state_motor.csv", joint="Rotation")
    assert len(log) == 5200
    assert 1.0 / log.dt == pytest.approx(49.85, abs=0.05)
    assert np.ptp(log.channels["position"]) == pytest.approx(2.4, abs=0.2)
    assert {"unsigned_torque", "unit_assumed"} <= {item.code for item in log.findings}
