"""Everything there is to know about a log before it is fitted."""

from sysid._excitation import excitation
from sysid._finding import Findings
from sysid._log import Log


def check(log: Log) -> Findings:
    """What was found in the log when it was read, and what it does not excite.

    **Returns:** findings with a code, one line of text, the rows concerned, the action taken, and the option that
    changes it.
    """
    return Findings(log.name, (*log.findings, *excitation(log)))
