"""A missing optional package is named together with the extra that brings it; other failures are not disguised."""

import math

import pytest

from sklearn_deid._optional import import_optional
from sklearn_deid.exceptions import MissingDependencyError


def test_an_installed_module_is_imported():
    assert import_optional("math", extra="glove", purpose="tests") is math
    assert import_optional("os.path", extra="glove", purpose="tests").__name__ in ("posixpath", "ntpath")


@pytest.mark.parametrize("name", ["absent_package", "absent_package.part"])
def test_a_missing_package_names_its_extra(name):
    with pytest.raises(
        MissingDependencyError, match=rf"'{name}' is needed for tables.*sklearn-deid\[frames\]"
    ) as caught:
        import_optional(name, extra="frames", purpose="tables")
    assert isinstance(caught.value, ImportError)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("installed_but_incomplete", "import absent_package"),
        ("installed_but_old", "raise ImportError('wrong version')"),
        ("installed_but_broken", "1 / 0"),
    ],
)
def test_what_fails_inside_an_installed_package_is_raised_as_it_is(tmp_path, monkeypatch, name, source):
    (tmp_path / f"{name}.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises((ImportError, ZeroDivisionError), match="absent_package|wrong version|division") as caught:
        import_optional(name, extra="frames", purpose="tables")
    assert not isinstance(caught.value, MissingDependencyError)


def test_a_missing_part_of_an_installed_package_is_raised_as_it_is():
    with pytest.raises(ModuleNotFoundError, match="json.absent") as caught:
        import_optional("json.absent", extra="frames", purpose="tables")
    assert not isinstance(caught.value, MissingDependencyError)
