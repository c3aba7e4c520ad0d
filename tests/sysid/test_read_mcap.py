"""MCAP recordings as robots make them, and as attackers would. Messages are encoded here by hand."""

import io
import pathlib
import struct

import numpy as np
import pytest

from sysid import LogError, read_log

writer_module = pytest.importorskip("mcap.writer")
zstandard = pytest.importorskip("zstandard")
STATE = "sensor_msgs/msg/JointState"
START = 1_700_000_000


def _string(text: str) -> bytes:
    raw = text.encode() + b"\0"
    return struct.pack("<I", len(raw)) + raw


def _padded(data: bytes, to: int) -> bytes:
    return data + bytes(-len(data) % to)


def _state(names: list[str], position: list[float], seconds: float) -> bytes:
    """A JointState with angles alone, in little-endian CDR."""
    body = struct.pack("<iI", START, round(1e9 * seconds)) + _string("base")
    body = _padded(body, 4) + struct.pack("<I", len(names))
    for name in names:
        body = _padded(body, 4) + _string(name)
    body = _padded(body, 4) + struct.pack("<I", len(position))
    if position:
        body = _padded(body, 8) + struct.pack(f"<{len(position)}d", *position)
    return b"\0\1\0\0" + body + struct.pack("<II", 0, 0)


def _recording(rows: list[tuple[list[str], list[float]]], encoding: str = "ros2msg", packing: str = "NONE") -> bytes:
    """Rows a millisecond apart, the later of each two written first, beside a camera whose messages nobody decodes."""
    buffer = io.BytesIO()
    writer = writer_module.Writer(buffer, compression=writer_module.CompressionType[packing])
    writer.start()
    camera = writer.register_schema("foxglove.CompressedImage", "protobuf", b"x")
    channel = writer.register_channel("/camera", "protobuf", camera)
    states = writer.register_channel("/joint_states", "cdr", writer.register_schema(STATE, encoding, b"no definition"))
    for k in np.arange(len(rows)) ^ 1:
        at = START * 10**9 + int(k) * 10**6
        writer.add_message(channel, at, b"picture", at)
        writer.add_message(states, at, _state(*rows[k], 1e-3 * k), at)
    writer.finish()
    return buffer.getvalue()


def _angles(count: int) -> list[tuple[list[str], list[float]]]:
    return [(["hip"], [0.01 * k * k]) for k in range(count)]


def _write(folder: pathlib.Path, content: bytes) -> pathlib.Path:
    path = folder / "run.mcap"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("encoding", ["ros2msg", "ros2idl"])
@pytest.mark.parametrize("packing", ["NONE", "ZSTD", "LZ4"])
def test_only_joint_states_are_decoded_whatever_else_is_recorded(tmp_path, encoding, packing):
    log = read_log(_write(tmp_path, _recording(_angles(40), encoding, packing)))
    np.testing.assert_allclose(log.time, 1e-3 * np.arange(40), atol=1e-9)
    np.testing.assert_array_equal(log.channels["position"], [0.01 * k * k for k in range(40)])


def test_two_programs_publish_the_joints_of_one_robot(tmp_path):
    rows = [(["hip"], [1.0 * k]) if k % 2 else (["knee", "toe"], [2.0 * k, 0.0]) for k in range(60)]
    path = _write(tmp_path, _recording(rows))
    with pytest.raises(LogError, match=r"choose one with --joint \(0 hip, 1 knee, 2 toe\)|\(0 knee, 1 toe, 2 hip\)"):
        read_log(path)
    log = read_log(path, joint="knee")
    mask = log.masks["position"]
    assert mask.sum() == 30
    np.testing.assert_array_equal(log.channels["position"][mask], 4.0 * np.arange(30))


def test_states_without_names_and_files_without_states(tmp_path):
    with pytest.raises(LogError, match=r"run\.mcap: its joint states name no joints"):
        read_log(_write(tmp_path, _recording([([], [])] * 20)))
    with pytest.raises(LogError, match=r"holds no sensor_msgs/msg/JointState messages"):
        read_log(_write(tmp_path, _recording([])))


def test_a_recording_that_was_cut_off(tmp_path):
    content = _recording(_angles(40))
    with pytest.raises(LogError, match="ends too early; 'mcap recover'"):
        read_log(_write(tmp_path, content[: len(content) // 2 + 1]))


def _chunk(stated: int, held: int, packing: str = "zstd", unknown: bool = False) -> bytes:
    """A file of one chunk that states one size and holds so many zeros, or one record of zeros of unknown kind."""
    head = struct.pack("<BQ", 200, held - 9) if unknown else b""
    packed = zstandard.ZstdCompressor(level=1).compress(head + bytes(held - len(head)))
    name = packing.encode()
    body = struct.pack("<QQQII", 0, 0, stated, 0, len(name)) + name + struct.pack("<Q", len(packed)) + packed
    return b"\x89MCAP0\r\n" + struct.pack("<BQ", 6, len(body)) + body


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (_chunk(1000, 400 << 20), "not as large as it says"),
        (_chunk(1 << 62, 1000), "states 4611686018427387904 bytes"),
        (_chunk(100, 100, "brotli"), "compression 'brotli' is unknown"),
        (b"\x89MCAP0\r\n" + 3 * _chunk(120 << 20, 120 << 20, unknown=True)[8:], "out of all proportion"),
        (_chunk(1000, 1000), "a chunk of it is damaged"),
        (b"\x89MCAP0\r\n" + struct.pack("<BQ", 6, 1 << 60), "ends too early"),
    ],
    ids=["more than stated", "huge", "unknown", "together", "zeros", "record"],
)
def test_bombs_are_refused(tmp_path, content, reason):
    with pytest.raises(LogError, match=reason):
        read_log(_write(tmp_path, content))


def test_a_message_that_claims_more_than_it_holds(tmp_path):
    content = _recording(_angles(40))
    longest = content.replace(struct.pack("<I", 4) + b"hip\0", struct.pack("<I", 0xFFFFFFFF) + b"hip\0")
    assert longest != content
    with pytest.raises(LogError, match=r"run\.mcap: not readable as MCAP"):
        read_log(_write(tmp_path, longest))
