"""The cost of a fit and its derivatives, as pure functions of the unknowns."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

import jaxmotor as jm

from ._at_once import worthwhile
from ._batch import Batch, Scales
from ._command_path import AbstractCommandPath, LateCommand
from ._free import Subject, Unknowns, write
from ._normal_equations import NormalEquations, Point
from ._prediction import predict
from ._residual import bends, residuals, soft_l1, weight

INITIAL_REACH = 10.0
"""Standard deviation of the prior on initial states, in units of their width: weak, but never without bound."""


class Prior(eqx.Module):
    """What was known of each coordinate's physical value before: `mean` and `width`, infinite where nothing was."""

    mean: Float[Array, " n"]
    width: Float[Array, " n"]


class Jacobian(eqx.Module):
    """A problem around one point: `predicted` channels in SI, `residuals` in sigmas, and their `derivatives` in the
    segment's own coordinates and initial states."""

    predicted: dict[str, Float[Array, "*segment time"]]
    residuals: Float[Array, "*segment channel time"]
    derivatives: Float[Array, "*segment channel time unknown"]


class Seen(eqx.Module):
    """What a point predicts: `predicted` channels in SI, and their `residuals` in sigmas."""

    predicted: dict[str, Float[Array, "*segment time"]]
    residuals: Float[Array, "*segment channel time"]


class Problem(eqx.Module):
    """A fit: `bench`, `balanced` and `path` (see `predict`) are structure, the rest data (`substeps` where an array).

    `reset` marks the rows at which the motion returns to the measured one; `owner` says which free parameter each
    coordinate belongs to; `moves` is 0 where a coordinate is held [1]; `counts` is 0 where a segment is left out [1];
    a `whole` one runs start by start, the loop over rows as one function (see `at_once`).
    """

    bench: jm.Bench
    subject: Subject
    unknowns: Unknowns
    batch: Batch
    scales: Scales
    reset: Bool[Array, "segment time"]
    prior: Prior
    moves: Float[Array, " n"]
    counts: Float[Array, " segment"]
    owner: tuple[int, ...] = eqx.field(static=True)
    substeps: int | Int[Array, ""] = 1
    balanced: bool = eqx.field(static=True, default=False)
    path: AbstractCommandPath = LateCommand()
    whole: bool = eqx.field(static=True, default=False)

    def stepped(self, substeps: int, reverse: bool) -> "Problem":
        """The same with so many steps per row: one program for all numbers, except for `reverse` mode."""
        return dataclasses.replace(self, substeps=substeps if reverse else jnp.asarray(substeps, jnp.int32))

    def faster(self) -> "Problem":
        """The same, `whole` where that is faster than all starts side by side."""
        lanes = len(self.batch.dt) * (1 + self.batch.pick.shape[-1] + len(self.batch.initial))
        alone = len(self.batch.dt.sharding.device_set) == 1
        return dataclasses.replace(self, whole=alone and worthwhile(lanes))

    @property
    def initial_names(self) -> tuple[str, ...]:
        """Names of the initial states, in the order in which a `Point` holds them."""
        return tuple(sorted(self.batch.initial))

    def predict(
        self, local: Float[Array, " local"], initial: Float[Array, " m"], segment: Batch, reset: Bool[Array, " time"]
    ) -> dict[str, Float[Array, " time"]]:
        """Every compared channel of one segment, predicted."""
        subject = self.unknowns.put(write(self.subject, segment.overrides), local)
        states = {
            name: segment.initial[name].value + segment.initial[name].width * initial[k]
            for k, name in enumerate(self.initial_names)
        }
        found = predict(
            self.bench, subject, segment, states, reset, self.substeps, self.balanced, self.path, self.whole
        )
        return {name: found[name] for name in segment.channels}

    def predictions(self, point: Point) -> dict[str, Float[Array, "segment time"]]:
        """Every compared channel of every segment, predicted."""
        return jax.vmap(self.predict)(point.coordinates[self.batch.pick], point.initial, self.batch, self.reset)

    def residuals(self, point: Point) -> Float[Array, "segment channel time"]:
        """Residuals of every segment in units of sigma."""
        return jax.vmap(lambda p, segment: residuals(p, segment, self.scales))(self.predictions(point), self.batch)

    def _prior_residuals(self, coordinates: Float[Array, " n"]) -> Float[Array, " n"]:
        values = [self.unknowns.bijectors[owner].value(coordinates[k]) for k, owner in enumerate(self.owner)]
        return (jnp.stack(values) - self.prior.mean) / self.prior.width

    def _beliefs(self, point: Point) -> Float[Array, ""]:
        prior = self._prior_residuals(point.coordinates)
        return jnp.sum(prior**2) / 2 + jnp.sum((point.initial / INITIAL_REACH) ** 2) / 2

    def value(self, point: Point) -> Float[Array, ""]:
        """The cost: robust misfit of every usable sample, plus priors."""
        bend = bends(self.batch, self.scales)
        return jnp.sum(soft_l1(self.residuals(point), bend) * self._shares()) + self._beliefs(point)

    def _shares(self) -> Float[Array, "segment 1 1"]:
        return self.counts[:, None, None]

    def seen(self, local: Float[Array, "segment local"], initial: Float[Array, "segment m"]) -> Seen:
        """Predictions and residuals, with every segment at coordinates and initial states of its own."""
        predicted = jax.vmap(self.predict)(local, initial, self.batch, self.reset)
        return Seen(predicted, jax.vmap(lambda p, segment: residuals(p, segment, self.scales))(predicted, self.batch))

    def jacobian(self, local: Float[Array, "segment local"], initial: Float[Array, "segment m"]) -> "Jacobian":
        """Predictions, residuals and their derivatives by forward mode, with every segment at coordinates and initial
        states of its own."""
        size = local.shape[-1]

        def one(local, initial, segment, reset):
            def both(unknown):
                predicted = self.predict(unknown[:size], unknown[size:], segment, reset)
                value = residuals(predicted, segment, self.scales)
                return value, (predicted, value)

            derivative, (predicted, value) = jax.jacfwd(both, has_aux=True)(jnp.concatenate([local, initial]))
            return Jacobian(predicted, value, derivative)

        return jax.vmap(one)(local, initial, self.batch, self.reset)

    def normal(self, point: Point, found: "Jacobian") -> tuple[Float[Array, ""], NormalEquations]:
        """The cost and the weighted normal equations at `point`, around which the problem is `found`."""
        values, derivatives = found.residuals, found.derivatives
        bend = bends(self.batch, self.scales)
        weights = weight(values, bend) * self._shares()
        cost = jnp.sum(soft_l1(values, bend) * self._shares()) + self._beliefs(point)
        hessian = jnp.einsum("scta,sct,sctb->sab", derivatives, weights, derivatives)
        gradient = jnp.einsum("scta,sct,sct->sa", derivatives, weights, values)
        size, total = self.batch.pick.shape[-1], point.coordinates.shape[0]
        scatter = jax.nn.one_hot(self.batch.pick, total, dtype=values.dtype)
        prior, slopes = jax.jvp(self._prior_residuals, (point.coordinates,), (jnp.ones_like(point.coordinates),))
        belief = jnp.eye(point.initial.shape[-1], dtype=values.dtype) / INITIAL_REACH**2
        shared = jnp.einsum("sln,slk,skm->nm", scatter, hessian[:, :size, :size], scatter) + jnp.diag(slopes**2)
        # A coordinate without slopes stays where it is.
        return cost, NormalEquations(
            shared=shared * self.moves[:, None] * self.moves[None, :],
            mixed=jnp.einsum("sln,slm->snm", scatter, hessian[:, :size, size:]) * self.moves[None, :, None],
            own=hessian[:, size:, size:] + belief[None],
            shared_gradient=(jnp.einsum("sln,sl->n", scatter, gradient[:, :size]) + slopes * prior) * self.moves,
            own_gradient=gradient[:, size:] + point.initial / INITIAL_REACH**2,
        )
