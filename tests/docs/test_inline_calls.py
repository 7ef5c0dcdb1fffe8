"""Calls of estimators in the prose and the tables of the pages have values that the parameters allow."""

import ast
import re

import pytest
from sklearn.utils._param_validation import make_constraint

import sklearn_deid

from .pages import PAGES, ROOT, name_of

ESTIMATORS = [name for name in sklearn_deid.__all__ if hasattr(getattr(sklearn_deid, name), "_parameter_constraints")]
CURRENT = [page for page in PAGES if page != ROOT / "docs" / "changelog.md"]  # the changelog has calls of before, too


def values_of(page):
    """Estimator, parameter and value of each constant in the calls of inline code, without code blocks."""
    prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for code in re.findall(r"`([A-Z]\w+\([^`]*\))`", prose):
        try:
            call = ast.parse(code.replace("\n", " "), mode="eval").body
        except SyntaxError:  # a shortened call
            continue
        if isinstance(call, ast.Call) and getattr(call.func, "id", None) in ESTIMATORS:
            for keyword in call.keywords:
                if isinstance(keyword.value, ast.Constant) and keyword.value.value is not ...:
                    yield getattr(sklearn_deid, call.func.id), keyword.arg, keyword.value.value


@pytest.mark.parametrize("page", CURRENT, ids=name_of)
def test_values_of_parameters_are_allowed(page):
    for estimator, parameter, value in values_of(page):
        allowed = estimator._parameter_constraints.get(parameter, [None, type(value)])
        assert any(make_constraint(one).is_satisfied_by(value) for one in allowed), (parameter, value)
