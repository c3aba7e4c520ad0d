"""Differentiable electric-motor actuators in JAX."""
