"""Values in forms and tables whose labels stand on other lines or in other cells."""

from .labelled_values import LabelledValue, labelled_values

__all__ = ["LabelledValue", "labelled_values"]
