"""Human review of model output: suggestions of notes to annotate next, the review page, and the sign-off.

Names are resolved lazily (PEP 562): a module is imported when one of its names is first used.
"""

from __future__ import annotations

from .._lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "leak_bound": "LeakBound upper_bound",
        "review_page": "make_review_page write_review_page",
        "sign_off": "SignOff",
        "sign_off_record": "record_html",
        "suggestions": "note_uncertainties suggest_notes",
    },
)
