"""What the tests here have from others."""

from tests.plotting.conftest import _no_window  # noqa: F401
