"""`save` and `load` write and read all objects of the library that can be saved as a folder of plain data."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from inspect import signature
from operator import attrgetter
from typing import Any, NamedTuple

from ._storage import saved_class
from .exceptions import BundleError

__all__ = ["load", "save"]


class _Home(NamedTuple):
    """Module of a class that can be saved, and the names of its functions ``save(obj, path)`` and ``load(path)``."""

    module: str
    save: str
    load: str

    def function(self, name: str) -> Callable[..., Any]:
        return attrgetter(name)(import_module(f"{__package__}.{self.module}"))


_TAGGERS = _Home("tagging.saving", "save_tagger", "load_tagger")
# Keys are the class names in manifests. A package with a class to save adds a row. Modules are imported on first use.
_HOMES = {
    **dict.fromkeys(("DeidTagger", "NoteDeidentifier", "RuleTagger", "HybridTagger", "VotingTagger"), _TAGGERS),
    **dict.fromkeys(("RecallTunedTagger", "TemperatureScaledTagger"), _TAGGERS),
    **dict.fromkeys(("LabelLineTagger", "NotePriorTagger", "WordBiasTagger"), _TAGGERS),
    "PrivateRepresenter": _Home(
        "representations.private_representer", "PrivateRepresenter.save", "PrivateRepresenter.load"
    ),
    "WordClassRepresenter": _Home(
        "representations.word_class_representer", "WordClassRepresenter.save", "WordClassRepresenter.load"
    ),
    # `save_representation` saves this class because saving a representation needs further arguments.
    "SharedRepresentation": _Home("representations.sharing", "", "load_representation"),
    # Former name of HybridTagger, found in files of version 0.1.0.
    "UnitedTagger": _TAGGERS,
}


def save(obj: Any, path: str | os.PathLike[str], *, overwrite: bool = False, **options: Any) -> None:
    """Save a fitted tagger, `NoteDeidentifier` or representer as a folder of JSON and safetensors.

    The folder of a tagger holds weights, settings and tag names. The folder of the default tagger holds no word of the
    training notes. Parameters that are needed only for training are not saved: splitters, numbers of jobs, random seeds
    and dropped taggers. Use `save_representation` to save private representations.

    Parameters
    ----------
    obj : estimator
        Fitted estimator. All taggers inside the estimator must be taggers of this library. For a `DSSGDEnsemble`, save
        ``global_estimator_`` or an item of ``estimators_``.
    path : path
        Folder to create. The folder is written under a temporary name and renamed, so an incomplete folder never
        appears under this name.
    overwrite : bool, default=False
        Whether a saved object at ``path`` may be replaced.
    **options
        Further options of the class. Taggers have the option ``compact``: with True, the weights are rounded, which
        reduces the size to a third. A `PrivateRepresenter` has the options ``audit`` and ``utility``: results of an
        audit, and F1 of taggers, for its privacy card.

    Raises
    ------
    BundleError
        If objects of this class cannot be saved, the object contains words, or ``path`` exists.

    Examples
    --------
    >>> from sklearn_deid import DeidTagger, load, save
    >>> tagger = DeidTagger(max_epochs=1, embeddings=None).fit([["Mr", "Alder"]], [["O", "B-PATIENT"]])
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(tagger, f"{folder}/model")
    ...     load(f"{folder}/model").classes_.tolist()
    ['O', 'B-PATIENT']
    """
    # A subclass of the user is saved as the class of the library from which it inherits.
    own = [c for c in type(_unwrapped(obj)).__mro__ if c.__module__.startswith(f"{__package__}.")]
    home = next((_HOMES[c.__name__] for c in own if c.__name__ in _HOMES and _HOMES[c.__name__].save), None)
    if home is None:
        raise BundleError(f"A {type(_unwrapped(obj)).__name__} cannot be saved{instead_of(obj)}")
    writer = home.function(home.save)
    _check_options(writer, options, type(obj).__name__)
    writer(_unwrapped(obj), path, overwrite=overwrite, **options)


def load(path: str | os.PathLike[str], *, device: str | None = None, **options: Any) -> Any:
    """Load an object that `save` or `save_representation` wrote. Loading executes no code from the folder.

    Parameters
    ----------
    path : path
        Folder of the saved object.
    device : str, optional
        Device of the model: "auto", "cpu", "cuda", ... With None, the device of the training is used.
    **options
        Further options of the class. A `PrivateRepresenter` and a `WordClassRepresenter` have the option
        ``embeddings``: the public word vectors of `fit`. The option is not needed for "glove-6b-50d".

    Returns
    -------
    object
        Fitted object of the saved class, or a `representations.SharedRepresentation`.

    Raises
    ------
    BundleError
        If the folder is damaged, incomplete or of another format.
    ValueError
        If the saved class does not have the option.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn_deid import NoteDeidentifier, RuleTagger, load, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(NoteDeidentifier(RuleTagger().fit([])), f"{folder}/model")
    ...     load(f"{folder}/model").redact(["Mail to roe@example.org"])
    ['Mail to [EMAIL]']
    """
    name = saved_class(path)
    if name not in _HOMES:
        raise BundleError(f"The manifest names a class that this version does not know: {name!r}.", path=str(path))
    reader = _HOMES[name].function(_HOMES[name].load)
    given = options if device is None else {"device": device, **options}
    _check_options(reader, given, name)
    return reader(path, **given)


def instead_of(obj: Any) -> str:
    """Second half of the error message for an object that cannot be saved: the parts or classes to save instead.

    Examples
    --------
    >>> "RuleTagger" in instead_of(None)
    True
    """
    if hasattr(obj, "strategy") and hasattr(obj, "n_workers"):  # a DSSGDEnsemble, which a higher package defines
        parts = "one of its estimators_" if obj.strategy == "local" else "its global_estimator_ or one of estimators_"
        return f" with the state of its workers' training. Save {parts}; each of them is a DeidTagger."
    if hasattr(obj, "best_estimator_"):
        return ". Save its best_estimator_."
    names = ", ".join(name for name in _HOMES if name not in ("UnitedTagger", "SharedRepresentation"))
    return f". The classes {names} can be saved, with taggers of these classes inside."


def _unwrapped(obj: Any) -> Any:
    """The estimator inside scikit-learn's `FrozenEstimator`. The wrapper contains nothing that must be saved."""
    while type(obj).__name__ == "FrozenEstimator":
        obj = obj.estimator
    return obj


def _check_options(function: Callable[..., Any], options: dict[str, Any], name: str) -> None:
    for option in set(options) - set(signature(function).parameters):
        raise ValueError(f"The {option!r} option does not belong to a {name}.")
