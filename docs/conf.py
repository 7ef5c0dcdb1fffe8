"""How the site is built: ``sphinx-build docs docs/_build/html``, or ``.ci/docs`` with warnings as errors.

Nothing is fetched: no inventories of other projects, and formulas become MathML, which browsers draw themselves.
"""

import gc
import os
import sys
from functools import cache
from pathlib import Path

from sphinx.search.en import SearchEnglish

# Sphinx keeps the trees of all pages: the default thresholds look through them again and again, a tenth of the build.
gc.set_threshold(100_000, 50, 1_000)
# The index of the search has 87,000 words, most of them many times.
SearchEnglish.stem = cache(SearchEnglish.stem)

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

import sklearn_deid  # noqa: E402  (after the path of the extensions, as Sphinx loads both)

project = "sklearn-deid"
author = "The sklearn-deid developers"
project_copyright = author
version = release = sklearn_deid.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "command_help",
    "mathml_formulas",
    "own_members",
    "shared_docstring_template",
    "short_names",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates", "_extensions", "auto_examples/**/*.ipynb", "auto_examples/**/*.py"]

# Markdown: formulas between dollars, and links to headings as on code hosts
myst_enable_extensions = ["dollarmath", "attrs_block"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

# Names in single backticks are linked where they are known, and set as code elsewhere
default_role = "autolink"
nitpicky = True
nitpick_ignore_regex = [
    # what belongs to others is not in this site
    (r"py:.*", r"datasets\.Dataset(Dict)?"),
    (
        r"py:.*",
        r"(numpy|np|torch|sklearn|skorch|scipy|pandas|pd|gensim|spacy|matplotlib|collections|typing|pathlib)\..*",
    ),
]

autodoc_typehints = "none"  # the numpydoc sections say types, with what they mean
autosummary_generate = True
autosummary_imported_members = True
autosummary_ignore_module_all = False
autosummary_context = {"top_level": sorted(sklearn_deid.__all__)}
numpydoc_show_class_members = False  # the template of a class shows them
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False

# One example takes seconds and is always run. The others take minutes each: they show figures of committed results,
# and are run with SPHINX_GALLERY_EXECUTE=1.
execute_all = os.environ.get("SPHINX_GALLERY_EXECUTE", "0") == "1"
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": "/plot_" if execute_all else "/plot_redact_a_note",
    "ignore_pattern": r"(^|/)(?!plot_)[^/]*\.py$",  # scripts without figures
    "abort_on_example_error": True,
    "within_subsection_order": "gallery_order.GalleryOrder",
    "doc_module": ("sklearn_deid",),
    "backreferences_dir": "api/backreferences",
    "prefer_full_module": {"sklearn_deid"},
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "download_all_examples": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "sklearn-deid"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
# Pages without pages below them have no navigation at their side. Those of single names have the way back to the
# reference above and their neighbours below: the list of all 600 beside each of 600 pages took a quarter of the build.
html_sidebars = {
    name: []
    for name in (
        "api/generated/*",
        "architecture",
        "changelog",
        "contributing",
        "formats",
        "installation",
        "integrations",
        "quickstart",
        "results/report",
        "security",
        "threat_model",
    )
}
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    # a field for the search would push the header to two lines at 1,400 pixels
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 7,
    "footer_start": ["copyright"],
    "footer_end": [],
}
