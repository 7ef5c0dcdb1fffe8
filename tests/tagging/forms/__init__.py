"""Tests of labels and values in forms and tables."""
