"""Algorithms: programs with what may be set of them. See `algorithm`."""
