"""Sound inputs of every reader, and how they are spoiled."""

import io
import json
import pathlib
import random
import re
from typing import Any

import numpy as np

_NUMBER = re.compile(rb"-?\d+\.?\d*(?:[eE][-+]?\d+)?")
_WORD = re.compile(rb"[A-Za-z_]{2,}")
_TOKENS = (
    *(
        b"",
        b"0",
        b"-1",
        b"nan",
        b"inf",
        b"-inf",
        b"1e999",
        b"1e308",
        b"5e-324",
        b"9" * 25,
        b"9" * 5000,
        b"0x10",
        b"1_0",
    ),
    *(
        b"null",
        b"true",
        b"{}",
        b"[]",
        b'""',
        b"[[[[",
        b"}",
        b'"',
        b"\0",
        b"\r",
        b"\n\n",
        b"\t",
        b";",
        b",",
        b"=",
        b"#",
        b"//",
    ),
    *(
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\xc3\x28",
        "\u202e\u00b5\u03a9".encode(),
        b"[rad/s]",
        b"[s^9]",
        b"[1/0]",
        b"(V",
        b"[20 A/V]",
    ),
    *(
        b"../../../etc/passwd",
        b"/etc/passwd",
        b"file:///etc/passwd",
        b"<!DOCTYPE a>",
        b"&lt;",
        b"&xxe;",
        b"<![CDATA[",
        b"-->",
    ),
    *(
        b"12:00:00.5",
        b"2024-13-45",
        b"1.000,5",
        b"1,5",
        b"-> ",
        b"> ",
        b"t:",
        b"__import__('os')",
        b"%s%n",
        b"{0.__class__}",
    ),
)


def spoiled(data: bytes, dice: random.Random) -> bytes:
    """`data` after one to six random changes: bytes, numbers, words, lines, lengths."""
    for _ in range(dice.randint(1, 6)):
        data = dice.choice(_CHANGES)(data, dice)
    return data[: 1 << 20]


def _place(data: bytes, dice: random.Random) -> int:
    return dice.randrange(len(data) + 1)


def _bits(data: bytes, dice: random.Random) -> bytes:
    spot = _place(data, dice)
    return data[:spot] + bytes([dice.randrange(256)]) + data[spot + 1 :]


def _cut(data: bytes, dice: random.Random) -> bytes:
    spot = _place(data, dice)
    return data[:spot] + data[spot + dice.choice((1, 4, 50, 1000)) :]


def _end(data: bytes, dice: random.Random) -> bytes:
    return data[: _place(data, dice)]


def _twice(data: bytes, dice: random.Random) -> bytes:
    spot, size = _place(data, dice), dice.choice((1, 8, 200))
    return data[:spot] + data[spot : spot + size] * dice.choice((2, 3, 300)) + data[spot + size :]


def _token(data: bytes, dice: random.Random) -> bytes:
    spot = _place(data, dice)
    return data[:spot] + dice.choice(_TOKENS) + data[spot:]


def _replaced(pattern: re.Pattern[bytes], data: bytes, dice: random.Random, other: bytes) -> bytes:
    found = next(pattern.finditer(data, _place(data, dice)), None) or pattern.search(data)
    return data if found is None else data[: found.start()] + other + data[found.end() :]


def _number(data: bytes, dice: random.Random) -> bytes:
    return _replaced(_NUMBER, data, dice, dice.choice(_TOKENS))


def _word(data: bytes, dice: random.Random) -> bytes:
    words = _WORD.findall(data[:20000])
    return _replaced(_WORD, data, dice, dice.choice(words) if words else b"x")


def _lines(data: bytes, dice: random.Random) -> bytes:
    lines = data.split(b"\n")
    one, other = dice.randrange(len(lines)), dice.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


_CHANGES = (_bits, _bits, _cut, _end, _twice, _token, _number, _number, _word, _lines)


def _rows() -> list[tuple[float, ...]]:
    return [(round(0.01 * k, 3), 3.0 - k % 7, round(0.1 * (k % 11) - 0.4, 3), 2.5 * k - 40) for k in range(40)]


def csv() -> list[bytes]:
    """Text tables of several dialects."""
    rows = _rows()
    plain = "time [s],voltage [V],current [A],speed [rad/s]\n" + "\n".join(",".join(map(str, row)) for row in rows)
    german = "Zeit [ms];Spannung [V];Strom [mA];Drehzahl [rpm]\n" + "\n".join(
        ";".join(str(cell).replace(".", ",") for cell in (1000 * row[0], *row[1:])) for row in rows
    )
    serial = (
        "ready\n> go\nmillis\tvolt\tcurrent_mA\trpm\n" + "\n".join("\t".join(map(str, row)) for row in rows) + "\nbye\n"
    )
    labelled = "\n".join(f"t:{a} u:{b} i:{c} rpm:{d}" for a, b, c, d in rows)
    blanks = "# mass = 0.5\n# t u i w\n" + "\n".join("  ".join(map(str, row)) for row in rows)
    clock = "time,angle_deg,volts\n" + "\n".join(f"12:00:{row[0]:06.3f},{row[3]},{row[1]}" for row in rows)
    scope = "X,CH1,CH2,Start,Increment,\nSequence,Volt,Volt,-2.0,1e-3,\n" + "\n".join(
        f"{k},{row[1]},{row[2]},," for k, row in enumerate(rows)
    )
    return [text.encode() for text in (plain, german, serial, labelled, blanks, clock, scope)]


def bam() -> list[bytes]:
    """A recording of the BAM format, and an object of columns."""
    entries = [
        {"timestamp": t, "position": 0.01 * w, "speed": w, "load": int(60 * i) % 65536, "input_volts": 7.4 + u / 50}
        | {"temp": 30, "goal_position": 0.1 * u, "torque_enable": True}
        for t, u, i, w in _rows()
    ]
    record = {"mass": 0.5, "length": 0.1, "kp": 100, "vin": 7.4, "motor": "xl330", "entries": entries}
    columns = dict(
        zip(("time [s]", "voltage", "current [mA]", "speed"), map(list, zip(*_rows(), strict=True)), strict=True)
    )
    return [json.dumps(record).encode(), json.dumps(columns | {"mass": 0.5}).encode()]


def sage() -> list[bytes]:
    """The table of states of a SAGE recording; the partner is the same for all."""
    head = "type,timestamp,positions,velocities,torques\n"
    rows = [f'STATE_MOTOR,{1e6 * t},"[{w}, {u}]","[{w}, 0.0]","[{i}, 0.1]"' for t, u, i, w in _rows()]
    return [(head + "\n".join(rows) + "\n").encode()]


SAGE_PARTNER = "type,timestamp,positions\n" + "".join(f'CONTROL,{1e4 * k},"[0.5, 0.0]"\n' for k in range(40))


def mat() -> list[bytes]:
    """MAT files of version 5, compressed or not, with a structure."""
    from scipy.io import savemat

    t, u, i, w = (np.array(column) for column in zip(*_rows(), strict=True))
    made = []
    for packed in (False, True):
        buffer = io.BytesIO()
        savemat(buffer, {"t": t, "log": {"voltage": u, "current": i}, "speed": w, "mass": 0.5}, do_compression=packed)
        made.append(buffer.getvalue())
    return made


def hdf5() -> list[bytes]:
    """A MAT file of version 7.3, which is HDF5, with and without compression; none where h5py is not installed."""
    try:
        import h5py
    except ImportError:
        return []
    made = []
    for packing in (None, "gzip"):
        buffer = io.BytesIO()
        with h5py.File(buffer, "w") as file:
            for name, column in zip(
                ("t", "log/voltage", "log/current", "speed"), zip(*_rows(), strict=True), strict=True
            ):
                file.create_dataset(name, data=np.array([column]), compression=packing)
        made.append(buffer.getvalue())
    return made


def parquet() -> list[bytes]:
    """Parquet tables, with and without compression."""
    import polars as pl

    frame = pl.DataFrame(
        dict(zip(("time [s]", "voltage", "current [mA]", "speed"), zip(*_rows(), strict=True), strict=True))
    )
    made = []
    for packing in ("uncompressed", "zstd", "snappy"):
        buffer = io.BytesIO()
        frame.with_columns(state=pl.lit("run")).write_parquet(buffer, compression=packing)
        made.append(buffer.getvalue())
    return made


def mcap() -> list[bytes]:
    """Recordings of ROS 2 with one joint, packed in both ways and not; none where the packages are not installed."""
    try:
        from mcap.writer import CompressionType
        from mcap_ros2.writer import Writer
    except ImportError:
        return []
    return [joint_states(Writer, packing) for packing in CompressionType]


JOINT_STATE = """std_msgs/Header header
string[] name
float64[] position
float64[] velocity
float64[] effort
===
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
===
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
"""


def joint_states(writer_class: Any, packing: Any) -> bytes:
    """The rows as messages of type JointState."""
    buffer = io.BytesIO()
    writer = writer_class(buffer, chunk_size=1000, compression=packing)
    schema = writer.register_msgdef("sensor_msgs/msg/JointState", JOINT_STATE)
    for t, u, i, w in _rows():
        stamp = {"sec": 1_700_000_000, "nanosec": round(1e9 * t)}
        message = {"header": {"stamp": stamp, "frame_id": "base"}, "name": ["hip"]}
        message |= {"position": [0.01 * w], "velocity": [u], "effort": [i]}
        at = round(1e9 * t) + 1_700_000_000_000_000_000
        writer.write_message(topic="/joint_states", schema=schema, message=message, log_time=at, publish_time=at)
    writer.finish()
    return buffer.getvalue()


_TOML = """command = "voltage"
outputs = ["velocity"]
grid = "5 ms"
[stages]
controller = "VoltageDrive"
winding = "Inductive"
drag = "ViscousDrag"
dry_friction = "CoulombFriction"
load = "RigidLoad"
[parameters]
resistance = { start = "1.2 ohm", lower = "0.1 ohm", upper = "10 ohm", per_log = true, spread = 0.3 }
motor_constant = { prior = ["45 mN m/A", "2 mN m/A"] }
inductance = { fixed = "0.6 mH" }
inertia = {}
"""


def toml() -> list[bytes]:
    """Model files: one written here, and those among the examples."""
    folder = pathlib.Path(__file__).parents[1] / "examples" / "models"
    return [_TOML.encode(), *(file.read_bytes() for file in sorted(folder.glob("*.toml")))]


def urdf() -> list[bytes]:
    """A robot of two joints with an inline actuator, a linked one and a coupling."""
    motor = (
        '<motor resistance="0.21" torque_constant="0.064" velocity_constant="14" bus_voltage="36" peak_torque="2.2"/>'
    )
    inline = f'<actuator joint="hip" gear_ratio="9" output_damping="0.1" output_friction="0.2">{motor}</actuator>'
    coupled = f'<actuator joint="knee" gear_ratio="6">{motor}<coupling joint="hip" ratio="-0.5"/></actuator>'
    joints = "".join(
        f'<joint name="{name}" type="revolute"><dynamics damping="0.1" friction="0.2" rotor_inertia="0.01"/></joint>'
        for name in ("hip", "knee")
    )
    linked = '<actuator joint="knee" file="knee.xml"/>'
    return [
        f'<?xml version="1.0"?>\n<robot name="leg">\n{joints}\n{inline}\n{other}\n</robot>'.encode()
        for other in (coupled, linked)
    ]


def mjcf() -> list[bytes]:
    """Attributes of `dcmotor`, one a line."""
    servo = """motorconst=0.05
resistance=2.0
gear=-10
armature=2e-5
inductance=0 0.002
thermal=8 0.5 0 0.0039 25 35
saturation=0.08 0 250
cogging=0.004 12 0.4
lugre=200 0.02 0.01 0.015 0.5
damping=0.02 1e-6 2e-7
input=pos vel
controller=0.08 0.2 0.003 30 0.2 20
ctrlrange=-3 2
"""
    return [servo.encode(), b"nominal=12 0.4 400\ninput=voltage\ndamping=1e-5\n"]


def fit() -> list[bytes]:
    """What `sysid fit` writes, of a model that was not fitted: the readers do not mind."""
    import tomllib

    from sysid._model_entry import model_to_dict
    from sysid._model_file import model_of

    parameters = _TOML.replace("inertia = {}", 'inertia = { start = "5e-5 kg m^2" }').replace(
        "prior = [", 'start = "45 mN m/A", prior = ['
    )
    more = 'coulomb_friction = { start = "0.008 N m" }\nviscous_damping = { start = "3e-5 N m s/rad" }\n'
    model = model_to_dict(model_of(tomllib.loads(parameters + more), "model"))
    entry = {"schema": 1, "model": model | {"substeps": 1}, "parameters": {"resistance": {"identifiable": False}}}
    return [json.dumps(entry, indent=1).encode()]
