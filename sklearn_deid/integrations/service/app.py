"""`make_app`: the service as an ASGI application."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from itertools import repeat
from typing import Any

from ... import __version__
from ..._optional import import_optional
from ..._strict_json import load_strict
from ...surrogates import note_rewriter, rewrite_note
from ...tagging.canary import canary, canary_problem
from ...tagging.note_tagger import NoteFailure, UnlikeNote
from ...tagging.tagger_failure import TaggerFailure
from ...text import Span
from ...text.column_names import repeats
from ..deidentifiers import as_deidentifier, labels_of_model
from ..presidio_entities import PRESIDIO_ENTITIES, entity_of
from .anonymizing import GivenSpan, anonymized
from .forms import AnalyzeRequest, AnonymizeRequest, RedactRequest, StrictRoute
from .guard import Guard, RequestRefused, ServiceLimits, too_large
from .metrics import ServiceMetrics

_fastapi = import_optional("fastapi", extra="serve", purpose="the service")
_responses = import_optional("fastapi.responses", extra="serve", purpose="the service")
_starlette = import_optional("starlette.exceptions", extra="serve", purpose="the service")
_exceptions = import_optional("fastapi.exceptions", extra="serve", purpose="the service")
Request = _fastapi.Request

_RECOGNIZER = "DeidRecognizer"
# With 16, a note took a quarter more CPU time. With more, or with long notes, requests of others wait longer for a
# batch, and a batch of the longest notes would not end within the time limit.
_BATCH_LINES, _BATCH_BYTES = 64, 250_000
_NO_NOTE = "The line is no JSON object of a string 'text' and an 'id', or names a key twice."
_TEXT_IN_ID = "The id repeats the text, or a part, and the answer would repeat the id."


def make_app(
    model: Any, limits: ServiceLimits | None = None, *, device: str | None = None, worker: str | None = None
) -> Guard:
    """Make the service for a model.

    The model runs in one thread and processes one batch after the other. Logs and metrics contain no text of a request.
    Answers contain only redacted text and offsets of spans.

    ==================  =======  ===============================================================================
    path                method   answer
    ==================  =======  ===============================================================================
    /analyze            POST     Presidio's list of results for a text, or a list of lists for several texts
    /anonymize          POST     Presidio's anonymized text; the operators replace, redact, mask and keep
    /supportedentities  GET      Presidio's entities of the model
    /recognizers        GET      the name of the recogniser
    /redact             POST     ``{"text": ...}``: the redacted note
    /v1/batch           POST     a JSON object ``{"id", "text"}`` in each line, and such lines as the answer
    /health             GET      that the process lives
    /ready              GET      that the model finds in the built-in note what it found at the start
    /metrics            GET      counts in Prometheus's text format
    ==================  =======  ===============================================================================

    Parameters
    ----------
    model : path, NoteDeidentifier or tagger
        Path of a model that `save` wrote, or a fitted model.
    limits : ServiceLimits, optional
        Limits. None means the defaults of `ServiceLimits`.
    device : str, optional
        Device of `load`, for a path only.
    worker : str, optional
        Name of this process in the metrics, if several processes share the requests.

    Returns
    -------
    Guard
        ASGI application.

    Raises
    ------
    MissingDependencyError
        If FastAPI is not installed (extra ``serve``).
    BundleError
        If the path does not hold a saved model.

    Examples
    --------
    >>> from sklearn_deid import RuleTagger
    >>> app = make_app(RuleTagger(recognizers=["date"]).fit([]))
    >>> "/redact" in app.routes
    True
    """
    limits, metrics = limits or ServiceLimits(), ServiceMetrics(worker)
    service = _Service(as_deidentifier(model, device), limits, metrics)
    # No pages of documentation: they load scripts from other servers. No redirection: behind a proxy with TLS it would
    # lead to an address without TLS, and the client would send the note there.
    no_pages = {"docs_url": None, "redoc_url": None, "redirect_slashes": False}
    app = _fastapi.FastAPI(title="sklearn-deid", version=__version__, **no_pages)
    app.router.route_class = StrictRoute
    app.exception_handler(_exceptions.RequestValidationError)(_invalid)
    app.exception_handler(_starlette.HTTPException)(_refused)
    app.exception_handler(Exception)(_failed)
    for path, method in (("/analyze", "POST"), ("/anonymize", "POST"), ("/redact", "POST"), ("/v1/batch", "POST")):
        app.add_api_route(
            path,
            getattr(service, path.rpartition("/")[2]),
            methods=[method],
            response_model=None,
            response_class=_Lines if path == "/v1/batch" else _responses.JSONResponse,
            responses=_problems(400, 401, 408, 413, 422, 429, 503, 504),
        )
    for path in ("/supportedentities", "/recognizers", "/health", "/ready", "/metrics"):
        plain = path in ("/health", "/metrics")
        app.add_api_route(
            path,
            getattr(service, path[1:]),
            methods=["GET"],
            response_model=None,
            response_class=_responses.PlainTextResponse if plain else _responses.JSONResponse,
            responses=_problems(400, 401, 429, 503, 504),
        )
    return Guard(app, limits, metrics, [route.path for route in app.routes])


def _problems(*codes: int) -> dict[int, Any]:
    """Description of the answers to requests that fail."""
    schema = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
    content = {"application/json": {"schema": schema}}
    return {code: {"description": HTTPStatus(code).phrase, "content": content} for code in codes}


async def _invalid(request: Any, error: Any) -> Any:
    # FastAPI's own answer repeats the input. Only names of the forms are shown.
    known = {*AnalyzeRequest.model_fields, *AnonymizeRequest.model_fields, *RedactRequest.model_fields, "body"}
    names = sorted({str(part) for one in error.errors() for part in one["loc"] if part in known})
    return _problem(422, f"The request is not valid. See: {', '.join(names) or 'body'}.")


async def _refused(request: Any, error: Any) -> Any:
    answer = _problem(error.status_code, str(error.detail))
    answer.headers.update(error.headers or {})  # such as the methods of a path that allows others
    return answer


async def _failed(request: Any, error: Any) -> Any:
    # The guard logs the type of the error. Its message could hold text.
    return _problem(500, "The request failed. The log names the kind of the error by the request id.")


def _problem(status: int, message: str) -> Any:
    return _responses.JSONResponse({"error": message}, status_code=status)


class _Service:
    """Answers of all paths."""

    def __init__(self, deidentifier: Any, limits: ServiceLimits, metrics: ServiceMetrics) -> None:
        self._tagger = deidentifier.note_tagger()
        self._limits, self._metrics = limits, metrics
        self._entities = sorted({entity_of(label, PRESIDIO_ENTITIES) for label in labels_of_model(deidentifier)})
        # One thread: taggers do not support several threads, and one thread uses all cores that torch is given.
        self._thread, self._turn = ThreadPoolExecutor(1), asyncio.Lock()
        self._n_waiting = 0
        self._check: asyncio.Future[Any] | None = None
        self._canary = canary(self._tagger.estimator)

    async def analyze(self, form: AnalyzeRequest) -> Any:
        # A name that the model never gives, such as EMAIL, would find nothing, and the text would pass as clean. Only
        # a model that does not list its labels can give any.
        if not set(form.entities or ()) <= set(self._entities or PRESIDIO_ENTITIES.values()):
            raise RequestRefused(422, "An entity is not known. GET /supportedentities lists those of the model.")
        texts = form.text if isinstance(form.text, list) else [form.text]
        found = self._counted(await self._tag(texts))
        if not isinstance(form.text, list):
            return _responses.JSONResponse(self._results(_checked(found[0]), form))
        # The number of the text: the client could not tell which of its texts to leave out.
        results = [self._results(_checked(spans, number), form) for number, spans in enumerate(found)]
        return _responses.JSONResponse(results)

    async def anonymize(self, form: AnonymizeRequest) -> Any:
        spans = [GivenSpan(one.start, one.end, one.entity_type, one.score) for one in form.analyzer_results]
        if any(not span.start < span.end <= len(form.text) for span in spans):
            raise RequestRefused(422, "A span lies outside of the text, or is empty.")
        return _answer(anonymized(form.text, spans, form.anonymizers or {}))

    async def redact(self, form: RedactRequest) -> Any:
        (found,) = await self._tag([form.text])
        (text,) = self._counted([_redacted(form.text, found, form.mode)])
        return _answer({"text": _checked(text)})

    async def batch(self, request: Request) -> Any:  # type: ignore[valid-type]
        return _LineStream(self._lines(request))

    async def supportedentities(self) -> Any:
        return self._entities

    async def recognizers(self) -> Any:
        return [_RECOGNIZER]

    async def health(self) -> Any:
        return _responses.PlainTextResponse("The service is up.")

    async def ready(self) -> Any:
        # One check for all who ask at the same time: without a token, they could fill the queue of the model.
        if self._check is None or self._check.done():
            self._check = asyncio.ensure_future(self._work(partial(canary, self._tagger.estimator)))
        problem = canary_problem(self._canary, await asyncio.shield(self._check))
        if problem:
            raise RequestRefused(503, problem)
        return {"status": "ready"}

    async def metrics(self) -> Any:
        return _responses.PlainTextResponse(self._metrics.rendered())

    # ---- the model

    async def _tag(self, texts: Sequence[str]) -> Any:
        found = await self._work(partial(self._tagger, list(texts)))
        # A program that calls a service sees no warning: a note unlike the training notes is withheld.
        return [NoteFailure(one.reason) if isinstance(one, UnlikeNote) else one for one in found]

    def _counted(self, results: list[Any]) -> list[Any]:
        """Results of notes, after they were counted in the metrics."""
        n_failed = sum(isinstance(one, NoteFailure) for one in results)
        self._metrics.notes(len(results) - n_failed, n_failed)
        return results

    async def _work(self, function: Any) -> Any:
        """Result of the model's thread. The request is refused if too many requests wait, or after the time limit."""
        if self._n_waiting >= self._limits.max_waiting:
            raise RequestRefused(503, "Too many requests wait for the model.")
        self._n_waiting += 1
        try:
            return await asyncio.wait_for(self._in_turn(function), self._limits.timeout)
        except asyncio.TimeoutError:
            message = f"The model has not answered within {self._limits.timeout:g} seconds."
            raise RequestRefused(504, message) from None
        finally:
            self._n_waiting -= 1

    async def _in_turn(self, function: Any) -> Any:
        # The queue of the thread would keep the texts of requests that were given up.
        await self._turn.acquire()
        loop = asyncio.get_running_loop()

        def free(job: Any) -> None:
            with suppress(RuntimeError):  # the service has ended
                loop.call_soon_threadsafe(self._turn.release)

        job = self._thread.submit(function)
        job.add_done_callback(free)
        return await asyncio.wrap_future(job)

    def _results(self, spans: Sequence[Span], form: AnalyzeRequest) -> list[dict[str, Any]]:
        results = []
        for span in spans:
            entity = entity_of(span.label, PRESIDIO_ENTITIES)
            score = 1.0 if span.confidence is None else span.confidence
            if (form.entities and entity not in form.entities) or score < (form.score_threshold or 0):
                continue
            results.append(
                {
                    "entity_type": entity,
                    "start": span.start,
                    "end": span.end,
                    "score": score,
                    "analysis_explanation": None,
                    "recognition_metadata": {"recognizer_name": _RECOGNIZER, "label": span.label},
                }
            )
        return results

    # ---- batches

    async def _lines(self, request: Any) -> AsyncIterator[str]:
        waiting: list[Any] = []
        size = 0
        async for line in self._given_lines(request):
            waiting.append(_note(line))
            size += len(line)
            if len(waiting) == _BATCH_LINES or size >= _BATCH_BYTES:
                yield await self._answered(waiting)
                waiting, size = [], 0
        if waiting:
            yield await self._answered(waiting)

    async def _given_lines(self, request: Any) -> AsyncIterator[bytes]:
        # Joined in place: a copy for each part of a long line would take a time that grows with its square.
        rest = bytearray()
        async for part in request.stream():
            first, *lines = part.split(b"\n")
            rest += first
            for line in lines:
                if len(rest) > self._limits.max_bytes:
                    raise too_large(self._limits)
                if rest.strip():
                    yield bytes(rest)
                rest[:] = line
            if len(rest) > self._limits.max_bytes:
                raise too_large(self._limits)
        if rest.strip():
            yield bytes(rest)

    async def _answered(self, notes: list[Any]) -> str:
        texts = [note["text"] for note in notes if "text" in note]
        try:
            found = iter(await self._tag(texts))
        except RequestRefused as refused:  # the answer has begun: each line names the reason
            found = repeat(NoteFailure(refused.detail))
        # Lines without a note and notes that the model has not read count as withheld: the status of a batch is always
        # 200, so that only the metrics show that a client sends nothing that the service can read.
        results = self._counted(
            [
                _redacted(note["text"], next(found), "label") if "text" in note else NoteFailure(note["reason"])
                for note in notes
            ]
        )
        lines = []
        for note, result in zip(notes, results, strict=True):
            answer = {"error": result.reason} if isinstance(result, NoteFailure) else {"text": result}
            lines.append(json.dumps({"id": note["id"], **answer}) + "\n")
        return "".join(lines)


class _Lines(_responses.Response):  # type: ignore[name-defined]
    """Media type of streamed answers in the OpenAPI description of the service."""

    media_type = "application/x-ndjson"


class _LineStream(_Lines):
    """Answer that is written while the request is read.

    A ``StreamingResponse`` also waits for the end of the connection, and would thereby consume parts of the request.
    """

    def __init__(self, lines: AsyncIterator[str]) -> None:
        super().__init__()
        self._lines = lines

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-type", b"application/x-ndjson")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        with TaggerFailure() as failure:
            async for lines in self._lines:
                await send({"type": "http.response.body", "body": lines.encode("ascii"), "more_body": True})
        if failure.error is not None:
            # The answer ends without its last message. With HTTP 1.0, which many proxies speak, such an answer looks
            # complete.
            reason = getattr(failure.error, "detail", "The request failed.")
            last = json.dumps({"id": None, "error": f"{reason} The lines from here on have no answer."}) + "\n"
            await send({"type": "http.response.body", "body": last.encode("ascii"), "more_body": True})
            raise failure.error
        await send({"type": "http.response.body", "body": b""})


def _checked(found: Any, number: int | None = None) -> Any:
    """Result of a note. The request is refused if the note was withheld. ``number`` counts the texts of a list."""
    if isinstance(found, NoteFailure):
        raise RequestRefused(422, found.reason if number is None else f"{found.reason} [text {number} of the list]")
    return found


def _redacted(text: str, spans: Any, mode: str) -> str | NoteFailure:
    if isinstance(spans, NoteFailure):
        return spans
    with TaggerFailure() as failure:
        return rewrite_note(text, spans, note_rewriter(mode), name="note").text
    return NoteFailure(failure.reason())


def _answer(content: Any) -> Any:
    # ASCII, because a text may hold half of a surrogate pair, which UTF-8 cannot encode.
    return _responses.Response(json.dumps(content), media_type="application/json")


def _note(line: bytes) -> dict[str, Any]:
    """Id of a line, and its text, or the reason why the line is not valid."""
    try:
        content = load_strict(line)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        return {"id": None, "reason": _NO_NOTE}
    name = content.get("id")
    # Programs that hold a column of numbers with gaps send 17.0. Without its id, the answer would belong to no note.
    note = {"id": name if isinstance(name, (str, int, float)) else None}
    # As in `RedactRequest`, another field could request more redaction than the service performs.
    if not isinstance(content.get("text"), str) or not content.keys() <= {"id", "text"}:
        return {**note, "reason": _NO_NOTE}
    if repeats(content["text"], [name]):
        return {"id": None, "reason": _TEXT_IN_ID}
    return {**note, "text": content["text"]}
