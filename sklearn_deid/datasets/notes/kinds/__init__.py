"""The kinds of notes and how each is laid out."""

from __future__ import annotations

from . import admission, discharge, letter, message, nursing, radiology
from .layout import Kind, write_kind

__all__ = ["KINDS_BY_NAME", "KIND_RULES", "Kind", "write_kind"]

KINDS_BY_NAME: dict[str, Kind] = {
    "admission": admission.KIND,
    "discharge": discharge.KIND,
    "letter": letter.KIND,
    "message": message.KIND,
    "nursing": nursing.KIND,
    "radiology": radiology.KIND,
}
KIND_RULES: dict[str, tuple[str, ...]] = {
    name: alternatives for kind in KINDS_BY_NAME.values() for name, alternatives in kind.rules.items()
}
