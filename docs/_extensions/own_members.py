"""Members that come from other packages, or that only repeat the name of a field, are left out of class pages."""


def _home(member):
    """The module that defines a member, looking through properties and class methods."""
    member = getattr(member, "fget", None) or getattr(member, "__func__", member)
    return getattr(member, "__module__", None) or ""


def skip_foreign(app, what, name, member, skip, options):
    """Whether to leave a member out; None leaves the decision to autodoc."""
    if name.startswith("_"):
        return None
    if callable(member) or isinstance(member, (property, classmethod, staticmethod)):
        home = _home(member)
        return None if home.startswith("sklearn_deid") else True
    # plain values: fields of named tuples ("Alias for field number 0") and defaults, which the sections describe
    return True if what == "class" else None


def setup(app):
    app.connect("autodoc-skip-member", skip_foreign)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
