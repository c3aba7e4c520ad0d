"""The voltage of a bus that its own loads pull down, from this step's currents and in closed form.

A source of open-circuit voltage E and internal resistance r feeds bridges that are ideal on average, so what they take
from the bus is what the windings get:

    V = E - r I,    V I = sum of v i,    i = g v + o,

with the terminal voltage v of each winding [V], its conductance g [S] and offset o [A]. Each v is a line in V between
kinks: held by the drive (constant), a fixed duty or the bus itself (a share of V), or the window of a current limit
(constant). Between kinks the balance is the quadratic

    (1 + r Σ g a²) V² + (r Σ a (2 g b + o) - E) V + r Σ b (g b + o) = 0,    v = a V + b,

whose larger root is the operating point of a source (the smaller is beyond its greatest power). The highest root that
lies on its own piece is the bus voltage. Stepping with the last step's currents instead would be a feedback loop of
gain r Σ g a², which rings near one and diverges beyond.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from ._stage import Scalar


class BusLoad(eqx.Module):
    """What one winding asks of the bus: v = clip(clip(slope V + constant, lower, upper), ± ceiling V), i = g v + o.

    `slope` [1], `constant` [V], `lower` and `upper` [V] of the current limit, `ceiling` [1], `conductance` g [S],
    `offset` o [A]. Either `slope` or `constant` is zero.
    """

    slope: Float[Array, "*motors"]
    constant: Float[Array, "*motors"]
    lower: Float[Array, "*motors"]
    upper: Float[Array, "*motors"]
    ceiling: Float[Array, "*motors"]
    conductance: Float[Array, "*motors"]
    offset: Float[Array, "*motors"]

    def connected(self, enabled: Bool[Array, "*motors"] | None) -> "BusLoad":
        """The load of a bridge that is off where `enabled` is false: it takes no share of the bus."""
        if enabled is None:
            return self
        return eqx.tree_at(
            lambda load: load.ceiling, self, jnp.where(enabled, self.ceiling, jnp.zeros_like(self.ceiling))
        )

    def line(self, bus_voltage: Float[Array, "..."]) -> tuple[Float[Array, "..."], Float[Array, "..."]]:
        """Slope and constant of the piece of v on which this bus voltage lies."""
        zero = jnp.zeros_like(self.slope)
        asked = self.slope * bus_voltage + self.constant
        inside = (asked > self.lower) & (asked < self.upper)
        held = jnp.clip(asked, self.lower, self.upper)
        over = held > self.ceiling * bus_voltage
        under = held < -self.ceiling * bus_voltage
        free_slope = jnp.where(inside, self.slope, zero)
        slope = jnp.where(over, self.ceiling, jnp.where(under, -self.ceiling, free_slope))
        constant = jnp.where(over | under, zero, jnp.where(inside, self.constant, held))
        return slope, constant

    def kinks(self) -> Float[Array, "..."]:
        """The bus voltages at which a piece may end; zero where there is none."""
        slope = jnp.clip(self.slope, -self.ceiling, self.ceiling)
        at_rest = jnp.clip(self.constant, self.lower, self.upper)
        return jnp.stack(
            [_crossing(self.upper, slope), _crossing(self.lower, slope), _crossing(jnp.abs(at_rest), self.ceiling)]
        )


def _crossing(level: Float[Array, "..."], slope: Float[Array, "..."]) -> Float[Array, "..."]:
    steep = slope != 0
    voltage = level / jnp.where(steep, slope, jnp.ones_like(slope))
    return jnp.where(steep & (voltage > 0) & jnp.isfinite(voltage), voltage, jnp.zeros_like(voltage))


def balanced_bus_voltage(open_circuit_voltage: Scalar, internal_resistance: Scalar, loads: BusLoad) -> Scalar:
    """The bus voltage V >= 0 [V] at which the source and all its loads balance."""
    piece = _piece(*jax.lax.stop_gradient((open_circuit_voltage, internal_resistance, loads)))
    root, _ = _root(open_circuit_voltage, internal_resistance, loads, piece)
    return jnp.maximum(root, jnp.zeros_like(root))


def _piece(open_circuit_voltage: Scalar, internal_resistance: Scalar, loads: BusLoad) -> Scalar:
    """A bus voltage on the piece that holds the highest root, found by walking down from above all roots.

    No winding takes less than -o² / 4 g, which bounds the voltage that braking motors can lift the bus to.
    """
    kinks = loads.kinks().ravel()
    fed_back = jnp.sum(loads.offset**2 / loads.conductance) / 4
    top = (open_circuit_voltage + jnp.sqrt(open_circuit_voltage**2 + 4 * internal_resistance * fed_back)) / 2
    slack = 64 * jnp.finfo(top.dtype).eps * top

    def below(upper):
        return jnp.max(jnp.where(kinks < upper, kinks, jnp.zeros_like(kinks)), initial=0.0)

    def searching(carry):
        lower, upper = carry
        root, real = _root(open_circuit_voltage, internal_resistance, loads, (lower + upper) / 2)
        own = real & (root >= lower - slack) & (root <= upper + slack)
        return ~own & (lower > 0)

    lower, upper = jax.lax.while_loop(searching, lambda carry: (below(carry[0]), carry[0]), (below(top), top))
    return (lower + upper) / 2


def _root(open_circuit_voltage: Scalar, internal_resistance: Scalar, loads: BusLoad, piece: Scalar):
    """The larger root of the quadratic of the piece on which `piece` lies, and whether it is real."""
    slope, constant = loads.line(piece)
    conductance, offset = loads.conductance, loads.offset
    square = 1 + internal_resistance * jnp.sum(conductance * slope**2)
    linear = internal_resistance * jnp.sum(slope * (2 * conductance * constant + offset)) - open_circuit_voltage
    free = internal_resistance * jnp.sum(constant * (conductance * constant + offset))
    discriminant = linear**2 - 4 * square * free
    real = discriminant >= 0
    # A source at its greatest power has a square root of zero there, whose slope is infinite.
    positive = discriminant > 0
    width = jnp.where(positive, jnp.sqrt(jnp.where(positive, discriminant, jnp.ones_like(discriminant))), 0.0)
    return (width - linear) / (2 * square), real
