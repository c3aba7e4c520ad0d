"""From a group back to a robot file, with the numbers as they are now."""

import jax
import numpy as np
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - compiled, without stubs

from ._enforcement import Monitored
from ._group import ActuatorGroup, GroupParams
from ._group_build import torque_actuator
from ._urdf_read import MONITOR, NAMESPACE, ROTOR_INERTIA
from ._xml_document import XmlDocument


def dumps(group: ActuatorGroup, params: GroupParams, robot: str | None = None) -> str:
    """A robot file with each actuator's model inline: bus voltages and all other numbers as `params` has them now.

    **Arguments:** `robot`: the text of a robot file whose actuators are to be replaced; without it, the group's joints
    are written as a plain chain, which is enough to load the group again. What RaiSim has no word for (monitor mode,
    the rotors' own inertias) stands in attributes of a namespace, which other readers pass over.

    **Raises:** `ValueError` for a batch of params (write one robot at a time), and for what a robot file cannot hold:
    actuators other than torque-driven ones, and a gear ratio that is not positive (turn the joint's axis instead).
    """
    for kind in group.bank.kinds:
        if kind != torque_actuator():
            raise ValueError(
                f"a robot file holds torque-driven motors with a peak torque and nothing else, not {kind}: keep the "
                "group in Python"
            )
    if np.ndim(params.output_damping) != 1:
        raise ValueError("dumps writes one robot; take one element of the batch of params first")
    for name, ratio in zip(group.names, np.asarray(group.gear_ratio(params)), strict=True):
        if not ratio > 0:
            raise ValueError(
                f"actuator {name!r}: a robot file needs a positive gear_ratio, not {ratio:g}; turn the axis"
            )
    root = _chain(group, params) if robot is None else _kept(robot)
    for element in [child for child in root if child.tag == "actuator"]:
        root.remove(element)
    if isinstance(group.enforcement, Monitored):
        root.set(MONITOR, "true")
    for at in range(len(group.names)):
        root.append(_actuator(group, params, at))
    etree.indent(root)
    return etree.tostring(root, encoding="unicode", pretty_print=True)


def _kept(robot: str) -> etree._Element:
    root = XmlDocument(robot, "<string>").root
    root.attrib.pop(MONITOR, None)
    return root


def _chain(group: ActuatorGroup, params: GroupParams) -> etree._Element:
    root = etree.Element("robot", {"name": "robot"}, nsmap={"jaxmotor": NAMESPACE})
    reflected = np.diag(group.reflected_inertia(params))
    etree.SubElement(root, "link", {"name": "base"})
    parent = "base"
    for at, (name, kind) in enumerate(zip(group.joint_names, group.joint_kinds, strict=True)):
        link = f"{name}_link"
        etree.SubElement(root, "link", {"name": link})
        joint = etree.SubElement(root, "joint", {"name": name, "type": kind})
        etree.SubElement(joint, "parent", {"link": parent})
        etree.SubElement(joint, "child", {"link": link})
        etree.SubElement(joint, "axis", {"xyz": "0 0 1"})
        if kind != "continuous":
            etree.SubElement(joint, "limit", {"lower": "-1e9", "upper": "1e9", "effort": "1e9", "velocity": "1e9"})
        dynamics = {
            "damping": params.joint_damping[at],
            "friction": params.joint_friction[at],
            "rotor_inertia": reflected[at],
        }
        etree.SubElement(joint, "dynamics", {name: _text(value) for name, value in dynamics.items()})
        parent = link
    return root


def _actuator(group: ActuatorGroup, params: GroupParams, at: int) -> etree._Element:
    wiring = group.wiring
    model = {"model": group.models[at]} if group.models[at] else {}
    element = etree.Element(
        "actuator",
        {
            "name": group.names[at],
            "joint": group.joint_names[wiring.driven[at]],
            **model,
            "gear_ratio": _text(group.gear_ratio(params)[at]),
            "output_damping": _text(params.output_damping[at]),
            "output_friction": _text(params.output_friction[at]),
        },
    )
    region = jax.tree.map(lambda x: x[at], group.regions(params))
    constants = {
        "resistance": region.resistance,
        "torque_constant": region.torque_constant,
        "back_emf_constant": region.back_emf_constant,
        "bus_voltage": region.bus_voltage,
        **({"peak_torque": region.peak_torque} if np.isfinite(region.peak_torque) else {}),
        ROTOR_INERTIA: group.rotor_inertia(params)[at],
    }
    etree.SubElement(element, "motor", {name: _text(value) for name, value in constants.items()})
    for (actuator, joint), ratio in zip(wiring.coupled, params.coupling_ratio, strict=True):
        if actuator == at:
            etree.SubElement(element, "coupling", {"joint": group.joint_names[joint], "ratio": _text(ratio)})
    return element


def _text(value) -> str:
    """The shortest text that reads back as the same number of the same precision."""
    return str(np.asarray(value)[()])
