"""Fit motor parameters to bench logs."""
