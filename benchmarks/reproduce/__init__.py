"""The tables of the papers, as printed beside as measured here: ``python -m benchmarks.reproduce``."""
