"""`load_model`: the models that the package ships."""

from __future__ import annotations

from numbers import Real

from .._compat import StrOptions
from .._parameters import check_parameter
from .held_out import threshold_of
from .note_deidentifier import NoteDeidentifier
from .saving import load_tagger
from .shipped_models import STARTERS, starter_folder


def load_model(
    name: str = "starter-en", *, labels: str = "hipaa", decision_bias: float | None = None, device: str = "cpu"
) -> NoteDeidentifier:
    """Load a model that the package ships. The model finds PHI without any training on your notes.

    The model "starter-en" is for English notes. The model was trained on generated notes and on notes that were written
    for the training with random names, and contains no data of patients. The model misses some PHI, mainly in contexts
    that these notes lack. Measure the recall on your own notes, and choose a larger bias if the model misses too much
    PHI. To improve the model, correct some notes and continue the training
    (``DeidTagger(warm_start_from="starter-en")``).

    Parameters
    ----------
    name : {"starter-en"}, default="starter-en"
        Name of the model.
    labels : {"hipaa", "hipaa-wide", "all"}, default="hipaa"
        PHI to hide. "hipaa" is the PHI that the Safe Harbor rule lists; "hipaa-wide" adds states and the titles in
        front of names; "all" adds states, countries, professions, departments, bare years and ages under 90.
    decision_bias : float, optional
        Bias added to the log odds of PHI at every token. A larger bias hides more words. None means the bias that the
        model card states.
    device : str, default="cpu"
        Torch device.

    Returns
    -------
    NoteDeidentifier
        Fitted model with the labels of the i2b2 2014 scheme.

    Raises
    ------
    ValueError
        If a parameter has a value that is not allowed.

    See Also
    --------
    load : Loads a model that you have saved.

    Examples
    --------
    >>> from sklearn_deid import load_model
    >>> load_model().redact(["Mrs. Amara Okafor was seen by Dr. Lindqvist on March 3, 2021."])
    ['Mrs. [PATIENT] was seen by Dr. [DOCTOR] on [DATE].']
    """
    if name not in STARTERS:
        raise ValueError(f"load_model knows {', '.join(STARTERS)}. Got {name!r} instead. Use load for a saved model.")
    is_known = StrOptions({"all", "hipaa", "hipaa-wide"}).is_satisfied_by(labels)
    check_parameter("load_model", "labels", labels, is_known, "'hipaa', 'hipaa-wide' or 'all'")
    model = load_tagger(starter_folder(name), device=device)
    assert isinstance(model, NoteDeidentifier)
    if decision_bias is not None:
        is_number = isinstance(decision_bias, Real) and not isinstance(decision_bias, bool) and abs(decision_bias) < 100
        check_parameter("load_model", "decision_bias", decision_bias, is_number, "a number")
        tuned = model.fitted_estimator().set_params(decision_bias=float(decision_bias))
        tuned.decision_bias_, tuned.threshold_ = float(decision_bias), threshold_of(decision_bias)
        tuned.report_ = None  # the measured results are valid for the other bias only
    return model.set_params(labels=labels)
