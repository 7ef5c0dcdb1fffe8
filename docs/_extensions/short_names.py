"""Docstrings name things as their readers know them, as in `write_corpus`: find where those are documented."""

from sphinx.util.nodes import make_refnode


def resolve_short_name(app, env, node, contnode):
    """A reference to the one public name that ends as the reference does; None leaves it unresolved."""
    if node.get("refdomain") != "py":
        return None
    target = node.get("reftarget", "").lstrip(".~")
    known = env.get_domain("py").objects
    names = [name for name in known if name == target or name.endswith("." + target)]
    if not names:
        return None
    name = min(names, key=lambda name: (name.count("."), name))  # nearest to the package itself
    entry = known[name]
    return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, [contnode], name)


def setup(app):
    app.connect("missing-reference", resolve_short_name)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
