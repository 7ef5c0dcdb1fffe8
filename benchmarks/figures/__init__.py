"""Figures that only the benchmarks draw."""
