"""How a rollout went, as integer codes, one per batch element."""

import enum


class Result(enum.IntEnum):
    """`OK`; `NOT_FINITE`: the motion blew up; `BAD_INPUT`: a command, time step or parameter was not finite."""

    OK = 0
    NOT_FINITE = 1
    BAD_INPUT = 2
