"""Surrogates of PHI."""
