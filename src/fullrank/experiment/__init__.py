"""Benchmarks: what to run, how settings are chosen, where results lie, what they say."""
