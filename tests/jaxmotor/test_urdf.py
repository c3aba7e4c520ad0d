"""Actuators in robot files: what is read, and what is refused with file, row and reason."""

import json
import os

import pytest

from jaxmotor import urdf
from jaxmotor._description import Coupling

MOTOR = '<motor resistance="0.21" torque_constant="0.064" velocity_constant="14" bus_voltage="36" peak_torque="2.2"/>'


def robot(body="", joints=(("hip", "revolute"), ("knee", "revolute"), ("foot", "fixed")), **attributes):
    """A robot file with these joints and this body; the body starts in row 4."""
    elements = "".join(f'<joint name="{name}" type="{kind}"/>' for name, kind in joints)
    given = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f'<?xml version="1.0"?>\n<robot name="leg"{given}>\n{elements}\n{body}\n</robot>'


def refused(text, match, search_dir=None):
    with pytest.raises(ValueError, match=match) as caught:
        urdf.describes(text, search_dir=search_dir)
    return str(caught.value)


@pytest.fixture(scope="module")
def folder(shared):
    return shared / "goldens/raisim/urdf_cases"


@pytest.fixture(scope="module")
def expected(folder):
    return json.loads((folder / "expected.json").read_text())


def test_valid_files_load_to_the_recorded_actuators(folder, expected):
    assert expected["valid"]
    for case, record in expected["valid"].items():
        read = urdf.describe(folder / "valid" / case / record["urdf"]).actuators
        assert [actuator.label for actuator in read] == [actuator["name"] for actuator in record["actuators"]], case
        for actuator, right in zip(read, record["actuators"], strict=True):
            for name in ("model", "joint", "gear_ratio", "output_damping", "output_friction"):
                assert getattr(actuator, name) == right[name], case
            assert [{"joint": c.joint, "ratio": c.ratio} for c in actuator.couplings] == right["couplings"]
            motor = right["motor"]
            for name in ("resistance", "torque_constant", "bus_voltage", "peak_torque"):
                assert getattr(actuator.motor, name) == float(motor[name]), case
            assert 1 / actuator.motor.back_emf_constant == pytest.approx(motor["velocity_constant"], rel=1e-15)


def test_invalid_files_are_refused_with_file_and_row(folder, expected):
    assert expected["invalid"]
    for case, record in expected["invalid"].items():
        with pytest.raises(ValueError, match=r"\.(urdf|xml):\d+: ") as caught:
            urdf.describe(folder / "invalid" / case / record["urdf"])
        where = record["names_file_and_row"]
        if where is not None:
            message = str(caught.value)
            assert f"{where['file']}:{where['row']}: " in message, case
            assert where["file"] == record["urdf"] or f"{record['urdf']}:{where['actuator_row']})" in message, case


REASONS = [
    ('<actuator joint="hip">' + MOTOR + "</actuator>", ":4: <actuator>: gear_ratio is missing"),
    ('<actuator joint="" gear_ratio="3">' + MOTOR + "</actuator>", ":4: <actuator>: joint is missing"),
    (
        '<actuator joint="hip" gear_ratio="1e999">' + MOTOR + "</actuator>",
        ":4: .*gear_ratio must be positive and finite",
    ),
    ('<actuator joint="hip" gear_ratio="${G}">' + MOTOR + "</actuator>", ":4: .*'\\$\\{G\\}' is not a number"),
    ('<actuator joint="hip" gear_ratio="1_0">' + MOTOR + "</actuator>", "'1_0' is not a number"),
    ('<actuator joint="hip" gear_ratio="3" output_damping="nan">' + MOTOR + "</actuator>", "output_damping must be"),
    ('<actuator joint="hip" gear_ratio="3">\n\n<motor torque_constant="1"/></actuator>', ":6: <motor>: resistance is"),
    ('<actuator joint="hip" gear_ratio="3"></actuator>', "exactly one <motor>, not none"),
    ('<actuator joint="foot" gear_ratio="3">' + MOTOR + "</actuator>", ":4: .*'foot', which is fixed"),
    ('<actuator joint="hip" file="leg.xml"/>', ":4: .*missing.*give search_dir"),
    ('<joint name="hip" type="revolute"/>', ":4: <joint>: two joints are named 'hip'"),
    ('<joint name="toe" type="revolute"><dynamics damping="-1"/></joint>', ":4: <dynamics>: damping must be"),
]


@pytest.mark.parametrize(("body", "reason"), REASONS)
def test_reasons(body, reason):
    refused(robot(body), f"^<string>{reason}" if reason.startswith(":") else reason)


def test_row_is_where_the_element_starts():
    body = '<actuator joint="hip"\n   name="h"\n   gear_ratio="-3">' + MOTOR + "</actuator>"
    refused(robot(body), "^<string>:4: <actuator>: gear_ratio must be positive")


def test_not_a_robot_file():
    refused("<mujoco/>", ":1: <mujoco>: the root of a robot file must be <robot>")
    refused("<robot>\n<joint\n</robot>", r"^<string>:\d: not well-formed XML")
    refused("", "not well-formed XML")


def test_losses_and_rotor_inertia_of_joints():
    text = robot(
        '<joint name="toe" type="prismatic"><dynamics damping="0.3" friction="0.1" rotor_inertia="0.02"/></joint>'
    )
    hip, _knee, foot, toe = urdf.describes(text).joints
    assert (toe.damping, toe.friction, toe.rotor_inertia) == (0.3, 0.1, 0.02)
    assert (hip.damping, hip.friction, hip.rotor_inertia) == (0, 0, 0)
    assert not foot.movable
    assert toe.movable


def test_foreign_elements_are_left_alone():
    body = (
        '<transmission name="t"><joint name="elsewhere"/><actuator name="m"><mechanicalReduction>5'
        '</mechanicalReduction></actuator></transmission><gazebo><actuator joint="nowhere"/></gazebo>'
        "<!-- <actuator/> -->"
        '<x:actuator xmlns:x="urn:x"/>'
        '<actuator joint="hip" gear_ratio="3">' + MOTOR + '<coupling joint="knee" ratio="-1"/></actuator>'
    )
    (actuator,) = urdf.describes(robot(body)).actuators
    assert [(c.joint, c.ratio) for c in actuator.couplings] == [("knee", -1)]
    assert isinstance(actuator.couplings[0], Coupling)


def test_a_word_without_meaning_is_reported():
    body = '<actuator joint="hip" gear_ratio="3" output_dampng="1">' + MOTOR + "</actuator>"
    with pytest.warns(UserWarning, match=r"<string>:4: <actuator>: output_dampng has no meaning"):
        urdf.describes(robot(body))


def linked_file(path, gear_ratio):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'<actuator_model gear_ratio="{gear_ratio}">{MOTOR}</actuator_model>')


LINK = '<actuator joint="hip" file="{}"/>'


def gear_found(text, search_dir):
    return urdf.describes(text, search_dir=search_dir).actuators[0].gear_ratio


def test_folders_are_searched_in_order(tmp_path):
    home, text = tmp_path / "robot", robot(LINK.format("a.xml"))
    places = [tmp_path / "actuators", tmp_path, home / "actuators", home / "actuator", home]
    home.mkdir()
    for rank, place in enumerate(places, start=1):
        linked_file(place / "a.xml", rank)
        assert gear_found(text, home) == rank
        (home / "r.urdf").write_text(text)
        assert urdf.describe(home / "r.urdf").actuators[0].gear_ratio == rank
    linked_file(home / "actuator/sub/b.xml", 9)
    assert gear_found(robot(LINK.format("sub/b.xml")), home) == 9


def test_a_link_stays_inside_the_folders(tmp_path):
    home, outside = tmp_path / "a/b/robot", tmp_path / "outside.xml"
    home.mkdir(parents=True)
    linked_file(outside, 2)
    for file in (
        "../../../outside.xml",
        str(outside),
        "C:/outside.xml",
        r"..\outside.xml",
        r"\\host\share\x.xml",
        "x/../../y.xml",
    ):
        refused(robot(LINK.format(file)), ":4: .*must lie inside the search folders", home)
    os.symlink(outside, home / "s.xml")
    refused(robot(LINK.format("s.xml")), ":4: .*leads out of the search folders", home)
    os.symlink(tmp_path, home / "folder")
    refused(robot(LINK.format("folder/outside.xml")), ":4: .*leads out of the search folders", home)
    (home / "actuator").mkdir()
    os.symlink(home / "good.xml", home / "actuator/link.xml")
    linked_file(home / "good.xml", 4)
    assert gear_found(robot(LINK.format("link.xml")), home) == 4
    refused(robot(LINK.format("actuator")), ":4: .*'actuator' is missing", home)


def test_errors_of_a_linked_file_name_both_files(tmp_path):
    (tmp_path / "leg.xml").write_text("<actuator_model\n gear_ratio='2'>\n<motor resistance='-1'/></actuator_model>")
    refused(
        robot(LINK.format("leg.xml")), r"leg\.xml:3: <motor>: resistance must be.*\(linked by <string>:4\)", tmp_path
    )
    (tmp_path / "leg.xml").write_text("<actuator_model>\n<motor></actuator_model>")
    refused(robot(LINK.format("leg.xml")), r"leg\.xml:2: not well-formed XML.*\(linked by <string>:4\)", tmp_path)


ENTITIES = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "boom"}">' for n in range(12))


@pytest.mark.parametrize(
    "text",
    [
        f"<!DOCTYPE robot [{ENTITIES}]><robot name='&e11;'/>",
        f"<!DOCTYPE robot [{ENTITIES}]><robot>&e11;</robot>",
        f"<!DOCTYPE robot [<!ENTITY big '{'x' * 100_000}'>]><robot>{'&big;' * 10_000}</robot>",
        "<!DOCTYPE robot [<!ENTITY secret SYSTEM 'file:///etc/hostname'>]><robot name='a'>&secret;</robot>",
        "<!DOCTYPE robot SYSTEM 'http://localhost:1/x.dtd'><robot/>",
        "<!DOCTYPE robot [<!ENTITY % p SYSTEM 'file:///etc/hostname'> %p;]><robot/>",
        "<!DOCTYPE robot><robot/>",
        "<robot>" + "<a>" * 100_000 + "</a>" * 100_000 + "</robot>",
    ],
)
def test_hostile_documents_are_refused(text, tmp_path):
    refused(text, r"^<string>:\d+: ")
    (tmp_path / "leg.xml").write_text(text)
    refused(robot(LINK.format("leg.xml")), "linked by <string>:4", tmp_path)


def test_declared_encoding_is_that_of_the_bytes(tmp_path):
    text = robot('<actuator joint="hip" name="Hüfte" gear_ratio="3">' + MOTOR + "</actuator>")
    (tmp_path / "r.urdf").write_bytes(text.replace('"1.0"', '"1.0" encoding="iso-8859-1"').encode("latin-1"))
    assert urdf.describe(tmp_path / "r.urdf").actuators[0].name == "Hüfte"
    assert urdf.describes(text.replace('"1.0"', '"1.0" encoding="utf-16"')).actuators[0].name == "Hüfte"
