"""Numba loops: arrays in, arrays out; the same ideas in plain NumPy sit in tests/."""
