"""What the tests here have from others."""

from tests.tagging.conftest import fitted, sentences  # noqa: F401
