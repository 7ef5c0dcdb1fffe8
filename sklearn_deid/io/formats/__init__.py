"""The corpus formats, one file each: every module of this folder declares its ``FORMAT``, and nothing else lists it."""

__all__: list[str] = []
