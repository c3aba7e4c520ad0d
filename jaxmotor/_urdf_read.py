"""From a robot file to plain descriptions: `<joint>` and RaiSim's `<actuator>` elements directly under `<robot>`.

Everything else in the file is left alone, among it ROS `<transmission>` and Gazebo elements, which also hold elements
called `<actuator>` and `<joint>` (RaiSim, "Actuators", "Defining actuators in a URDF" and "Errors").
"""

import pathlib
import warnings

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - compiled, without stubs

from ._description import ActuatorDescription, Coupling, JointDescription, MotorDescription, RobotDescription
from ._motor_numbers import check_motor
from ._urdf_search import find_file
from ._xml_document import XmlDocument, XmlError

NAMESPACE = "urn:jaxmotor:urdf"
"""Of the attributes that RaiSim's elements have no word for; other readers pass over them."""

MONITOR = f"{{{NAMESPACE}}}monitor"
ROTOR_INERTIA = f"{{{NAMESPACE}}}rotor_inertia"

_MODEL_ATTRIBUTES = ("gear_ratio", "output_damping", "output_friction")
_KNOWN = {
    "actuator": {"joint", "name", "file", "model", "torque", *_MODEL_ATTRIBUTES},
    "actuator_model": {"name", *_MODEL_ATTRIBUTES},
    "motor": {
        "resistance",
        "torque_constant",
        "velocity_constant",
        "back_emf_constant",
        "bus_voltage",
        "peak_torque",
    },
    "coupling": {"joint", "ratio"},
}


def read_robot(document: XmlDocument, folders: tuple[pathlib.Path, ...]) -> RobotDescription:
    """The joints and actuators of a `<robot>`; linked actuator files are searched in `folders`."""
    robot = document.root
    if robot.tag != "robot":
        raise document.fail(robot, "the root of a robot file must be <robot>")
    joints = tuple(_joint(document, element) for element in document.children(robot, "joint"))
    seen: set[str] = set()
    for joint in joints:
        if joint.name in seen:
            raise XmlError(joint.place, f"<joint>: two joints are named {joint.name!r}")
        seen.add(joint.name)
    return RobotDescription(
        joints=joints,
        actuators=tuple(_actuator(document, element, folders) for element in document.children(robot, "actuator")),
        name=robot.get("name", "robot"),
        monitor=robot.get(MONITOR) == "true",
    )


def _joint(document: XmlDocument, element: etree._Element) -> JointDescription:
    # The first <dynamics> counts, as for the usual readers of URDF.
    dynamics = next(document.children(element, "dynamics"), etree.Element("dynamics"))
    return JointDescription(
        name=document.text(element, "name"),
        kind=document.text(element, "type"),
        damping=document.loss(dynamics, "damping"),
        friction=document.loss(dynamics, "friction"),
        rotor_inertia=document.loss(dynamics, "rotor_inertia"),
        place=document.place(element),
    )


def _actuator(document: XmlDocument, element: etree._Element, folders: tuple[pathlib.Path, ...]) -> ActuatorDescription:
    joint = document.text(element, "joint")
    _warn_unknown(document, element, ("motor", "coupling"))
    couplings = tuple(_coupling(document, child) for child in document.children(element, "coupling"))
    try:
        source, model, model_name = _model(document, element, folders)
        motor = _motor(source, model)
        gear_ratio = source.positive(model, "gear_ratio")
        damping, friction = (source.loss(model, name) for name in ("output_damping", "output_friction"))
    except XmlError as error:
        if error.place.file == document.file:
            raise
        linked_by = str(document.place(element)).rstrip(": ")
        raise XmlError(error.place, f"{error.reason} (linked by {linked_by})") from error
    return ActuatorDescription(
        joint=joint,
        gear_ratio=gear_ratio,
        motor=motor,
        name=element.get("name", "").strip(),
        model=model_name,
        output_damping=damping,
        output_friction=friction,
        couplings=couplings,
        place=document.place(element),
    )


def _model(
    document: XmlDocument, element: etree._Element, folders: tuple[pathlib.Path, ...]
) -> tuple[XmlDocument, etree._Element, str]:
    if element.get("file") is None:
        return document, element, element.get("model", "")
    linked = _linked(document, element, folders)
    if linked.root.tag != "actuator_model":
        raise linked.fail(linked.root, "the root of an actuator file must be <actuator_model>")
    _warn_unknown(linked, linked.root, ("motor",))
    return linked, linked.root, linked.root.get("name", "")


def _linked(document: XmlDocument, element: etree._Element, folders: tuple[pathlib.Path, ...]) -> XmlDocument:
    inline = [name for name in _MODEL_ATTRIBUTES if element.get(name) is not None]
    inline += ["<motor>" for _ in document.children(element, "motor")]
    if inline:
        raise document.fail(element, f"both a file and an inline model ({inline[0]}) are given: keep one")
    file = document.text(element, "file")
    try:
        path = find_file(file, folders)
        content = path.read_bytes()
    except (ValueError, OSError) as error:
        raise document.fail(element, str(error)) from error
    return XmlDocument(content, str(path))


def _coupling(document: XmlDocument, element: etree._Element) -> Coupling:
    _warn_unknown(document, element, ())
    joint = document.text(element, "joint")
    return Coupling(joint, document.finite(element, "ratio"), document.place(element))


def _motor(document: XmlDocument, model: etree._Element) -> MotorDescription:
    motors = list(document.children(model, "motor"))
    if len(motors) != 1:
        raise document.fail(model, f"there must be exactly one <motor>, not {len(motors) or 'none'}")
    (element,) = motors
    _warn_unknown(document, element, ())
    numbers = {
        "resistance": document.positive(element, "resistance"),
        "torque_constant": document.positive(element, "torque_constant"),
        "back_emf_constant": _back_emf_constant(document, element),
        "bus_voltage": document.positive(element, "bus_voltage"),
        "peak_torque": document.number(element, "peak_torque") if "peak_torque" in element.attrib else float("inf"),
    }
    try:
        check_motor(numbers, infinite=("peak_torque",))
    except ValueError as error:
        raise document.fail(element, str(error)) from error
    inertia = document.loss(element, ROTOR_INERTIA) if ROTOR_INERTIA in element.attrib else None
    return MotorDescription(**numbers, rotor_inertia=inertia)


def _back_emf_constant(document: XmlDocument, element: etree._Element) -> float:
    match ("velocity_constant" in element.attrib, "back_emf_constant" in element.attrib):
        case (True, True):
            raise document.fail(element, "velocity_constant and back_emf_constant say the same: give one of them")
        case (False, False):
            raise document.fail(element, "velocity_constant or back_emf_constant is missing")
        case (True, False):
            return 1.0 / document.positive(element, "velocity_constant")
        case _:
            return document.positive(element, "back_emf_constant")


def _warn_unknown(document: XmlDocument, element: etree._Element, children: tuple[str, ...]) -> None:
    known = _KNOWN[str(element.tag)]
    names = [str(name) for name in element.attrib if name not in known and "{" not in str(name)]
    names += [f"<{child.tag}>" for child in element if child.tag not in children and "{" not in str(child.tag)]
    if names:
        place, tag = document.place(element), element.tag
        warnings.warn(f"{place}<{tag}>: {', '.join(names)} has no meaning here and is not used", stacklevel=2)
