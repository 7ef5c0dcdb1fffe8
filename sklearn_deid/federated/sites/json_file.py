"""Settings in JSON files that people edit. Unknown, missing and invalid fields are refused by name."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from ..._atomic import write_file
from ...exceptions import DeidError, ExchangeError
from ..value_checks import is_number

T = TypeVar("T")


def read_settings(cls: type[T], path: str | os.PathLike[str]) -> T:
    """Read a dataclass from a JSON file with its fields.

    Raises
    ------
    DeidError
        If the file is missing or is not a JSON object, or if fields are unknown, missing, invalid or named twice.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"), object_pairs_hook=_named_once, parse_float=_finite)
    except DeidError as error:
        raise DeidError(f"A setting is refused: {error.message}", path=str(path)) from None
    except OSError:
        raise DeidError("The file of settings cannot be read.", path=str(path)) from None
    except (ValueError, RecursionError):
        raise DeidError("The file of settings is not valid JSON.", path=str(path)) from None
    known = {field.name: field for field in fields(cls)}  # type: ignore[arg-type]
    if not isinstance(content, dict):
        raise DeidError("The file of settings must hold a JSON object.", path=str(path))
    # Files of versions before 0.2.0. A value that they could not have written stays, and is refused as unknown.
    if "upload_dtype" in known and "upload_dtype" not in content and isinstance(content.get("half"), bool):
        content["upload_dtype"] = "float16" if content.pop("half") else "float32"
    unknown = sorted(set(content) - set(known))
    if unknown:
        raise DeidError(
            f"The settings have no field {unknown[0]!r}; the fields are {', '.join(known)}.", path=str(path)
        )
    # A field without a default and without a factory must be in the file.
    needed = {name for name, field in known.items() if field.default is MISSING and field.default_factory is MISSING}
    if needed - set(content):
        raise DeidError(f"The settings need a field {min(needed - set(content))!r}.", path=str(path))
    try:
        return cls(**content)
    except (TypeError, ValueError) as error:
        raise DeidError(f"A setting is refused: {getattr(error, 'message', error)}", path=str(path)) from None


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Object without repeated fields: JSON readers use the last of two values, and people may read the first value."""
    names = [name for name, _ in pairs]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ExchangeError(f"The field {twice[0]!r} occurs twice.")
    return dict(pairs)


def _finite(written: str) -> float:
    # Python would read 1e400 as infinity, which means no limit.
    if math.isinf(float(written)):
        raise ExchangeError(f"The number {written:.20} is too large.")
    return float(written)


def check_kinds(settings: Any) -> None:
    """Check that each field of a dataclass holds a value of its annotated type.

    Raises
    ------
    ExchangeError
        If a field holds a value of another type. The message contains the name of the field.
    """
    for name, hint in get_type_hints(type(settings)).items():
        kinds = get_args(hint) if get_origin(hint) not in (list, Mapping, None) else (hint,)
        if not any(_is_of_kind(getattr(settings, name), kind) for kind in kinds):
            raise ExchangeError(f"{name!r} must be {' or '.join(_words_of(kind) for kind in kinds)}.")


_KINDS = {str: "text", bool: "true or false", int: "a whole number", float: "a number", type(None): "null"}


def _words_of(kind: Any) -> str:
    return _KINDS.get(kind) or ("a list of texts" if get_origin(kind) is list else "an object with names")


def _is_of_kind(value: Any, kind: Any) -> bool:
    if get_origin(kind) is list:
        return isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)
    if kind is float:
        # Larger whole numbers overflow in arithmetic with floats.
        return is_number(value, -math.inf, math.inf) and (isinstance(value, float) or abs(value) < 2**63)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, get_origin(kind) or kind)


def write_settings(settings: Any, path: str | os.PathLike[str], *, private: bool = False) -> None:
    """Write a dataclass as a file for `read_settings`. Only the owner can read a private file."""
    write_json(asdict(settings), path, private=private)


def write_json(content: Any, path: str | os.PathLike[str], *, private: bool = False) -> None:
    """Write readable JSON. The file is written completely or not at all. Only the owner can read a private file."""
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    # Names of files may hold bytes that are not UTF-8. The escape \udc.. of such a byte is also valid JSON.
    write_file(path, text.encode("utf-8", "backslashreplace"), private=private)
