"""Tests of training across sites."""
