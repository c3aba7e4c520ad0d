"""Pictures show the region that the library computes."""

import io

import matplotlib.figure
import numpy as np
import pytest

from jaxmotor import urdf
from jaxmotor._plot_region import plot_group, plot_region
from jaxmotor._region import OperatingRegion

REGION = OperatingRegion(0.4, 0.1, 0.1, 24, 3)


def line(axes, label):
    (found,) = [x for x in axes.get_lines() if x.get_label() == label]
    return np.asarray(found.get_xdata()), np.asarray(found.get_ydata())


def saved(figure):
    figure.savefig(buffer := io.BytesIO(), format="png", dpi=40)
    return buffer.getvalue()


def test_one_region():
    speed, torque = np.array([0.0, 100, 200]), np.array([1.0, 2, -2])
    axes = plot_region(REGION, speed=speed, torque=torque, box=(2.0, 150.0), friction=0.2, damping=1e-3)
    x, upper = line(axes, "operating region")
    np.testing.assert_allclose(upper, REGION.bounds(x).upper)
    assert x.max() > float(REGION.overspeed_limit)
    x, left = line(axes, "left after output losses")
    np.testing.assert_allclose(left[x > 0], (REGION.bounds(x).upper - 0.2 - 1e-3 * x)[x > 0])
    np.testing.assert_allclose(left[x < 0], (REGION.bounds(x).upper + 0.2 - 1e-3 * x)[x < 0])
    np.testing.assert_array_equal(line(axes, "operating points"), (speed, torque))
    assert np.max(line(axes, "box of the joint limits")[0]) == 150
    assert saved(axes.figure)


@pytest.mark.parametrize("numbers", [(0.4, 0.1, 0.1, 24), (0.4, 0.1, 0.1, np.inf, 3), (0.4, 0.1, 0.1, np.inf)])
def test_missing_limits_still_draw(numbers):
    assert saved(plot_region(OperatingRegion(*numbers)).figure)


def test_sheet_of_a_quadruped():
    joints = [f"{leg}_{joint}" for leg in ("LF", "RF", "LH", "RH") for joint in ("HAA", "HFE", "KFE")]
    motor = '<motor resistance="0.4" torque_constant="0.1" velocity_constant="10" bus_voltage="24" peak_torque="3"/>'
    text = "".join(f'<joint name="{name}" type="revolute"/>' for name in joints) + "".join(
        f'<actuator joint="{name}" gear_ratio="8" output_friction="0.4">{motor}</actuator>' for name in joints
    )
    group, params = urdf.loads(f"<robot>{text}</robot>")
    run = np.random.default_rng(0).normal(size=(50, 12))
    sheet = plot_group(group, params, speed=100 * run, torque=run, boxes={"LF_HAA": (16.0, 20.0)})
    assert isinstance(sheet, matplotlib.figure.Figure)
    titles = [axes.get_title() for axes in sheet.axes]
    assert titles == joints
    assert np.max(line(sheet.axes[0], "box of the joint limits")[0]) == 160
    np.testing.assert_array_equal(line(sheet.axes[3], "operating points")[1], run[:, 3])
    assert saved(sheet)
    empty = urdf.loads("<robot/>")
    assert saved(plot_group(*empty))
