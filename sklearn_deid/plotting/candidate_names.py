"""Names of the candidates of a search in a figure: the labels of the points, and the lines that join the points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any


def candidate_names(candidates: Sequence[Mapping[str, Any]], parameter: str | None) -> list[tuple[str, str]]:
    """Label next to the point of each candidate, and name of the line that joins the point with others.

    Parameters
    ----------
    candidates : sequence of mapping
        Parameters of the candidates, ``cv_results_["params"]``.
    parameter : str or None
        Parameter that the labels state, with or without the steps before the last "__". All other parameters that
        differ are part of the line's name. With None, the labels state all parameters that differ.

    Raises
    ------
    ValueError
        If no parameter, or more than one parameter, has the given name.

    Examples
    --------
    >>> grid = [{"rep__n": 10, "lr": 0.1}, {"rep__n": 20, "lr": 0.1}, {"rep__n": 10, "lr": 0.2}]
    >>> candidate_names(grid, "n")
    [('10', 'lr=0.1'), ('20', 'lr=0.1'), ('10', 'lr=0.2')]
    >>> candidate_names(grid[:2], None)
    [('10', ''), ('20', '')]
    """
    name = None if parameter is None else _full_name(parameter, candidates)
    return [_names(texts, name) for texts in _texts(candidates, name)]


def _texts(candidates: Sequence[Mapping[str, Any]], parameter: str | None) -> list[dict[str, str]]:
    """Texts of the parameters of each candidate, without other parameters that are equal in all candidates.

    Different values of a parameter have different texts: objects of one class, and numbers that agree in six digits,
    are numbered.
    """
    texts: list[dict[str, str]] = [{} for _ in candidates]
    # In the order of the first occurrence.
    for name in dict.fromkeys(name for candidate in candidates for name in candidate):
        having = [i for i, candidate in enumerate(candidates) if name in candidate]
        shown = {_key(candidates[i][name]): _shown(candidates[i][name]) for i in having}
        if name == parameter or len(shown) + (len(having) < len(candidates)) > 1:
            alike: dict[str, list[Any]] = {}
            for key, text in shown.items():
                alike.setdefault(text, []).append(key)
            for i in having:
                key = _key(candidates[i][name])
                others = alike[shown[key]]
                texts[i][name] = f"{shown[key]} {others.index(key) + 1}" if len(others) > 1 else shown[key]
    return texts


def _key(value: Any) -> Any:
    """Equal for equal values. Objects are compared by identity, since a search repeats the objects of its grid."""
    return (type(value) is bool, value) if value is None or isinstance(value, (str, Real)) else id(value)


def _full_name(parameter: str, candidates: Sequence[Mapping[str, Any]]) -> str:
    names = dict.fromkeys(name for candidate in candidates for name in candidate)
    # The full name has priority over a name that ends with the parameter.
    found = [name for name in names if name == parameter] or [n for n in names if n.endswith(f"__{parameter}")]
    if len(found) != 1:
        raise ValueError(
            f"The 'parameter' must be a parameter of the grid: {', '.join(names)}. Got {parameter!r} instead."
        )
    return found[0]


def _names(texts: Mapping[str, str], parameter: str | None) -> tuple[str, str]:
    """Label next to the point, and name of the point's line."""
    if parameter is None:
        # A single varying parameter needs no name beside its values.
        alone = len(texts) == 1
        return ", ".join(text if alone else f"{n.split('__')[-1]}={text}" for n, text in texts.items()), ""
    line = ", ".join(f"{n.split('__')[-1]}={text}" for n, text in texts.items() if n != parameter)
    return texts.get(parameter, ""), line


def _shown(value: Any) -> str:
    if value is None or isinstance(value, (str, bool)):
        return str(value)
    return f"{value:g}" if isinstance(value, Real) else type(value).__name__
