"""How far the fitted model is from each log and channel."""

import dataclasses

import numpy as np

from ._log import Log
from ._windows import Piece


@dataclasses.dataclass(frozen=True, eq=False)
class Comparison:
    """One channel of one log, measured and predicted.

    `time` [s], `measured` and `predicted` in `unit`, `usable` rows, `sigma` the noise the fit took [unit], `role`
    `train` or `hold-out`. Rows that belong to no piece are not usable.
    """

    log: str
    channel: str
    time: np.ndarray
    measured: np.ndarray
    predicted: np.ndarray
    usable: np.ndarray
    unit: str
    sigma: float
    role: str

    def mean_square(self) -> float:
        """Of the usable rows' differences [unit^2]; at least one must be usable."""
        return float(np.mean((self.predicted - self.measured)[self.usable] ** 2))

    def metric(self) -> dict:
        """rmse and mae in `unit`, nrmse over the measured range, number of rows scored."""
        gap = (self.predicted - self.measured)[self.usable]
        if len(gap) == 0:
            return {"rmse": None, "mae": None, "unit": self.unit, "nrmse": None, "role": self.role, "rows": 0}
        rmse = float(np.sqrt(np.mean(gap**2)))
        span = float(np.ptp(self.measured[self.usable]))
        return {
            "rmse": rmse,
            "mae": float(np.mean(np.abs(gap))),
            "unit": self.unit,
            "nrmse": rmse / span if span > 0 else None,
            "role": self.role,
            "rows": len(gap),
        }


def comparisons(
    logs: list[Log],
    cut: list[Piece],
    predicted: dict[str, np.ndarray],
    sigma: dict[str, float],
    role: str,
) -> list[Comparison]:
    """Predictions of the pieces laid back onto their logs; `predicted` arrays have shape (piece, time)."""
    found = []
    for number, log in enumerate(logs):
        for channel, values in predicted.items():
            if channel not in log.channels:
                continue
            whole, covered = np.full(len(log), np.nan), np.zeros(len(log), bool)
            for index, piece in enumerate(cut):
                if piece.log == number:
                    whole[piece.first : piece.last] = values[index, : piece.last - piece.first]
                    covered[piece.first : piece.last] = True
            found.append(
                Comparison(
                    log.name,
                    channel,
                    log.time,
                    log.channels[channel],
                    whole,
                    log.masks[channel] & covered,
                    log.units[channel],
                    sigma[channel],
                    role,
                )
            )
    return found
