"""Requests and answers of the service. Fields have the names of Presidio's public API, if the API has such a field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from ..._optional import import_optional
from ..._strict_json import load_strict

_pydantic = import_optional("pydantic", extra="serve", purpose="the service")
_fastapi = import_optional("fastapi", extra="serve", purpose="the service")
_routing = import_optional("fastapi.routing", extra="serve", purpose="the service")
Field = _pydantic.Field


class StrictRoute(_routing.APIRoute):  # type: ignore[name-defined]
    """Route whose requests are strict JSON, see `load_strict`."""

    def get_route_handler(self) -> Callable[[Any], Any]:
        """Handler that reads the body strictly."""
        handle = super().get_route_handler()

        async def strict(request: Any) -> Any:
            return await handle(_StrictRequest(request.scope, request.receive))

        return strict


class _StrictRequest(_fastapi.Request):  # type: ignore[name-defined]
    async def json(self) -> Any:
        """Value of the body. If the parser raises an error, FastAPI refuses the request."""
        return load_strict(await self.body())


class _Form(_pydantic.BaseModel):  # type: ignore[name-defined]
    """Base of all forms with strict types: for example, a string is not accepted as a number."""

    model_config = _pydantic.ConfigDict(strict=True)


def _strings(value: Any) -> Any:
    """The value, unless it is a list with another element than a string.

    An error for each wrong element of a request, of which half a million have room, would take more than a gigabyte and
    seconds without an answer for anybody.
    """
    if isinstance(value, list) and not all(isinstance(one, str) for one in value):
        raise ValueError("An element is no string.")
    return value


_Strings = Annotated[list[str], _pydantic.BeforeValidator(_strings)]


class AnalyzeRequest(_Form):
    """Texts to search.

    Fields of Presidio that are not listed here are accepted and ignored, because none of these fields makes the
    analyzer find more PHI.

    A request with its own recognisers is refused, because PHI would stay if the service ignored the recognisers.
    """

    text: str | _Strings
    language: str = "en"
    entities: _Strings | None = None
    score_threshold: float | None = Field(None, ge=0, le=1)
    ad_hoc_recognizers: list[Any] | None = Field(None, max_length=0)


class Found(_Form):
    """A span that an analyzer has found."""

    entity_type: str
    start: int = Field(ge=0)
    end: int = Field(gt=0)
    score: float = Field(1.0, ge=0, le=1)


def _spans(value: Any) -> Any:
    """Spans of a list. The first wrong element ends the reading, as in `_strings`."""
    return [Found.model_validate(one) for one in value] if isinstance(value, list) else value


class Operator(_Form):
    """Operator that replaces a span."""

    type: Literal["replace", "redact", "mask", "keep"]
    new_value: str | None = None
    masking_char: str = Field("*", min_length=1, max_length=1)
    chars_to_mask: int | None = Field(None, ge=1)
    from_end: bool = False


class AnonymizeRequest(_Form):
    """A text, the spans of the text, and an operator for each entity."""

    text: str
    analyzer_results: Annotated[list[Found], _pydantic.BeforeValidator(_spans)]
    anonymizers: dict[str, Operator] | None = None


class RedactRequest(_Form):
    """A whole note to redact.

    Other fields are refused, because such fields could request more redaction than the service performs.
    """

    model_config = _pydantic.ConfigDict(strict=True, extra="forbid")

    text: str
    mode: Literal["label", "mask", "remove"] = "label"
