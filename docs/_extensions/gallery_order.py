"""The order of the gallery: what most readers come for stands first."""

_FIRST = (
    "plot_redact_a_note.py",
    "plot_pseudonymize.py",
    "plot_share_training_data.py",
    "plot_dssgd.py",
    "plot_grid_search.py",
    "plot_grid_search_workers.py",
)


class GalleryOrder:
    """Sort key of sphinx-gallery: listed examples in the order of the list, others behind them by name."""

    def __init__(self, src_dir):
        self.src_dir = src_dir

    def __call__(self, filename):
        return (_FIRST.index(filename) if filename in _FIRST else len(_FIRST), filename)

    def __repr__(self):
        return "GalleryOrder"  # what sphinx compares between builds
