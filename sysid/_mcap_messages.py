"""Joint states of an MCAP file, chunk by chunk, in no more memory than the size of the file gives it a claim to."""

import io
import pathlib
import struct
from collections.abc import Iterator
from typing import Any

JOINT_STATE = "sensor_msgs/msg/JointState"
_LARGEST_CHUNK = 1 << 27
_LARGEST = 1 << 28
_RATIO = 50

# What ROS 2 has fixed for this message. The file's own definition is a stranger's program for the decoder, and may be
# in a language that it does not know.
_DEFINITION = """std_msgs/Header header
string[] name
float64[] position
float64[] velocity
float64[] effort
================
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
================
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
"""


class BrokenMcapError(ValueError):
    """Bytes that are no MCAP file, in a few words."""


def joint_states(path: pathlib.Path) -> Iterator[tuple[str, int, Any]]:
    """Topic, time of writing [ns] and message of every joint state, in the order of the file.

    **Raises:** `BrokenMcapError`; `ImportError` where the packages for MCAP are not installed.
    """
    from mcap.exceptions import EndOfFile, RecordLengthLimitExceeded
    from mcap.records import Channel, Message, Schema
    from mcap_ros2.decoder import DecoderFactory

    decode = DecoderFactory().decoder_for("cdr", Schema(1, _DEFINITION.encode(), "ros2msg", JOINT_STATE))
    assert decode is not None
    schemas: dict[int, str] = {}
    channels: dict[int, Any] = {}
    try:
        for record in _records(path):
            if isinstance(record, Schema):
                schemas[record.id] = record.name
            elif isinstance(record, Channel):
                channels[record.id] = record
            elif isinstance(record, Message):
                channel = channels[record.channel_id]
                if schemas.get(channel.schema_id) == JOINT_STATE and channel.message_encoding == "cdr":
                    yield channel.topic, record.log_time, decode(record.data)
    except (EndOfFile, RecordLengthLimitExceeded):
        raise BrokenMcapError("it ends too early; 'mcap recover' mends a recording that was cut off") from None
    except BrokenMcapError:
        raise
    except Exception as error:  # the decoders pass on whatever the bytes make of themselves
        reason = (str(error).splitlines() or [""])[0][:200]
        raise BrokenMcapError(reason or type(error).__name__) from None


def _records(path: pathlib.Path) -> Iterator[Any]:
    from mcap.records import Chunk
    from mcap.stream_reader import StreamReader

    size = path.stat().st_size
    room = max(_LARGEST, _RATIO * size)
    with path.open("rb") as file:
        for record in StreamReader(file, emit_chunks=True, record_size_limit=size).records:
            if not isinstance(record, Chunk):
                yield record
                continue
            data = _unpacked(record)
            room -= len(data)
            if room < 0:
                raise BrokenMcapError("it unpacks to a size out of all proportion to the file")
            yield from _parts(data)


def _parts(data: bytes) -> Iterator[Any]:
    """Schemas, channels and messages in a chunk."""
    from mcap.data_stream import ReadDataStream
    from mcap.opcode import Opcode
    from mcap.records import Channel, Message, Schema

    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<BQ", data, at)
        body = data[at + 9 : at + 9 + length]
        if kind == 0 or len(body) < length:
            raise BrokenMcapError("a chunk of it is damaged")
        stream = ReadDataStream(io.BytesIO(body))
        if kind == Opcode.SCHEMA:
            yield Schema.read(stream)
        elif kind == Opcode.CHANNEL:
            yield Channel.read(stream)
        elif kind == Opcode.MESSAGE:
            yield Message.read(stream, length)
        at += 9 + length


def _unpacked(chunk: Any) -> bytes:
    """The data without its compression, if it is as large as it says and no larger than chunks are."""
    if not chunk.compression:
        return chunk.data
    stated = chunk.uncompressed_size
    if stated > _LARGEST_CHUNK:
        raise BrokenMcapError(f"a chunk of it states {stated} bytes: at most {_LARGEST_CHUNK} are read")
    if chunk.compression == "zstd":
        import zstandard

        data = zstandard.ZstdDecompressor().stream_reader(chunk.data).read(stated + 1)
    elif chunk.compression == "lz4":
        import lz4.frame

        data = lz4.frame.LZ4FrameDecompressor().decompress(chunk.data, max_length=stated + 1)
    else:
        raise BrokenMcapError(f"its compression '{chunk.compression[:20]}' is unknown")
    if len(data) != stated:
        raise BrokenMcapError("a chunk of it is not as large as it says")
    return data
