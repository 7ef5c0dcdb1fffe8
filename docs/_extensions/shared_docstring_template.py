"""One compiled template for all docstrings: numpydoc compiles it anew for each, which took a tenth of the build."""

from jinja2.sandbox import SandboxedEnvironment
from numpydoc import docscrape_sphinx

_ENVIRONMENTS = {}


def _shared(loader):
    # The loaders of a kind look into the same folders.
    if type(loader) not in _ENVIRONMENTS:
        _ENVIRONMENTS[type(loader)] = SandboxedEnvironment(loader=loader)
    return _ENVIRONMENTS[type(loader)]


def setup(app):
    docscrape_sphinx.SandboxedEnvironment = _shared
    return {"parallel_read_safe": True, "parallel_write_safe": True}
