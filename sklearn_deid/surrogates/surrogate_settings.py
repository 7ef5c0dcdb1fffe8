"""Settings for the replacement of PHI by surrogates."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import partial

from .._parameters import check_parameter
from .age_surrogates import AGES
from .folding import fold
from .label_kinds import label_kinds
from .locale_words import LOCALES

CHECK_DIGITS = ("invalid", "valid")
_WEEK, _SEASON_DAYS = 7, 380
_check = partial(check_parameter, "SurrogateEngine")


@dataclass(frozen=True)
class SurrogateSettings:
    """Checked parameters of a `SurrogateEngine`; see there for their meaning.

    Raises
    ------
    ValueError
        If a value is not allowed.

    Examples
    --------
    >>> SurrogateSettings(ages="band").kind_of["DATE"]
    'date'
    """

    locale: str = "auto"
    date_shift: int = 3650
    whole_weeks: bool = False
    keep_seasons: bool = False
    ages: str = "keep"
    keep_gender: bool = True
    check_digits: str = "invalid"
    kinds: Mapping[str, str | None] | None = None
    avoid: Collection[str] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        _check("locale", self.locale, self.locale in ("auto", *LOCALES), f"'auto' or one of {sorted(LOCALES)}")
        least = _SEASON_DAYS if self.keep_seasons else _WEEK if self.whole_weeks else 1
        is_number = isinstance(self.date_shift, int) and not isinstance(self.date_shift, bool)
        _check(
            "date_shift",
            self.date_shift,
            is_number and least <= self.date_shift <= 36_500,
            f"a whole number of days from {least} to 36500",
        )
        _check("ages", self.ages, self.ages in AGES, f"one of {AGES}")
        _check("check_digits", self.check_digits, self.check_digits in CHECK_DIGITS, f"one of {CHECK_DIGITS}")
        for name in ("whole_weeks", "keep_seasons", "keep_gender"):
            _check(name, getattr(self, name), isinstance(getattr(self, name), bool), "True or False")
        if isinstance(self.avoid, str):
            raise TypeError("The 'avoid' parameter must be a collection of words, not one string.")
        object.__setattr__(self, "kind_of", label_kinds(self.kinds))
        object.__setattr__(self, "avoided", frozenset(map(fold, self.avoid or ())))

    kind_of: dict[str, str] = field(init=False, repr=False)
    avoided: frozenset[str] = field(init=False, repr=False)
