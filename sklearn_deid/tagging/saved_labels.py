"""Labels of a saved tagger that has other taggers inside."""

from __future__ import annotations

from typing import Any

from .._storage import plain_json
from ..exceptions import BundleError
from .marginals import tag_columns


def with_labels(model: Any, labels: Any) -> Any:
    """Set the labels and the tags of a tagger.

    Raises
    ------
    BundleError
        If the saved labels are not a list of names.
    """
    if not (isinstance(labels, list) and all(isinstance(label, str) for label in labels)):
        raise BundleError("The labels of a saved tagger are not a list of names.")
    model._labels = plain_json(labels, "labels")
    model.classes_ = tag_columns(labels)
    return model
