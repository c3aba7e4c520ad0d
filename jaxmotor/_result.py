"""How a rollout went, as integer codes, one per batch element."""

import enum


class Result(enum.IntEnum):
    """`OK`; `NOT_FINITE`: the motion or a state blew up; `BAD_INPUT`: a command, time step or parameter was no finite
    number."""

    OK = 0
    NOT_FINITE = 1
    BAD_INPUT = 2
