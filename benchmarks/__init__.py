"""Measurements; each module prints one JSON object and is run with ``python -m benchmarks.<name>``."""
