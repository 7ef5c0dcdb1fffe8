"""The service answers in Presidio's forms, refuses what is over its limits, and tells no text of a request."""

import asyncio
import gc
import json
import logging
import threading
from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from sklearn_deid import NoteDeidentifier, RuleTagger

pytest.importorskip("fastapi")
# The client of the tests needs httpx2, or httpx with old versions of FastAPI.
pytest.importorskip("httpx2" if find_spec("httpx2") else "httpx")

from fastapi.testclient import TestClient
from pydantic import ValidationError

from sklearn_deid.integrations.service.anonymizing import GivenSpan, anonymized
from sklearn_deid.integrations.service.app import make_app
from sklearn_deid.integrations.service.forms import AnalyzeRequest, AnonymizeRequest, RedactRequest
from sklearn_deid.integrations.service.guard import ServiceLimits

NAME = "Zyxwvutski"
TEXT = f"{NAME} wrote to roe@example.org."


class FragileTagger(BaseEstimator):
    """Breaks on a name, with the name in the message."""

    classes_ = np.array(["O", "B-PATIENT"], dtype=object)

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def predict(self, X):
        if any(NAME in row for row in X):
            raise ValueError(NAME)
        tags = np.empty(len(X), dtype=object)
        tags[:] = [["B-PATIENT" if token == "Alder" else "O" for token in row] for row in X]
        return tags


class HangingTagger(FragileTagger):
    """Hangs on a note until `go` is set."""

    go = threading.Event()

    def predict(self, X):
        if any("Wait" in row for row in X):
            assert self.go.wait(60)
        return super().predict(X)


def client(model=None, **limits):
    return TestClient(make_app(model or RuleTagger().fit([]), ServiceLimits(**limits)), raise_server_exceptions=False)


@pytest.fixture(scope="module")
def rules():
    return client()


def test_analyze_has_the_form_of_presidio(rules):
    (found,) = rules.post("/analyze", json={"text": TEXT, "language": "en"}).json()
    assert TEXT[found["start"] : found["end"]] == "roe@example.org"
    assert (found["entity_type"], found["score"], found["analysis_explanation"]) == ("EMAIL_ADDRESS", 1.0, None)
    several = rules.post("/analyze", json={"text": [TEXT, "Fine."], "language": "en", "correlation_id": "x"}).json()
    assert [len(one) for one in several] == [1, 0]
    assert rules.post("/analyze", json={"text": TEXT, "language": "en", "entities": ["DATE_TIME"]}).json() == []
    assert "EMAIL_ADDRESS" in rules.get("/supportedentities?language=en").json()
    assert rules.get("/recognizers").json() == ["DeidRecognizer"]


def test_a_list_of_texts_that_is_refused_names_the_text(rules):
    """The client could not tell which of its texts to leave out."""
    answer = rules.post("/analyze", json={"text": [TEXT, NAME + "\x00", "Fine."]})
    assert (answer.status_code, NAME in answer.text) == (422, False)
    assert answer.json()["error"].endswith("[text 1 of the list]")
    assert "of the list" not in rules.post("/analyze", json={"text": NAME + "\x00"}).json()["error"]


def test_anonymize_has_the_form_of_presidio(rules):
    spans = [{"start": 0, "end": 10, "score": 0.8, "entity_type": "PERSON"}]
    spans.append({"start": 20, "end": 35, "score": 0.9, "entity_type": "EMAIL_ADDRESS"})
    operators = {
        "DEFAULT": {"type": "replace", "new_value": "ANON"},
        "EMAIL_ADDRESS": {"type": "mask", "chars_to_mask": 3},
    }
    form = {"text": TEXT, "analyzer_results": spans, "anonymizers": operators}
    answer = rules.post("/anonymize", json=form).json()
    assert answer["text"] == "ANON wrote to ***@example.org."
    assert [answer["text"][one["start"] : one["end"]] for one in answer["items"]] == [
        one["text"] for one in answer["items"]
    ]
    assert [one["operator"] for one in answer["items"]] == ["replace", "mask"]
    for none in ({}, None):
        answer = rules.post("/anonymize", json=form | {"anonymizers": none})
        assert answer.json()["text"] == "<PERSON> wrote to <EMAIL_ADDRESS>."
    for wrong in ([spans[0] | {"end": 99}], [spans[0] | {"start": 10}]):
        assert rules.post("/anonymize", json=form | {"analyzer_results": wrong}).status_code == 422


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        ({"type": "redact"}, " left"),
        ({"type": "keep"}, "Alder left"),
        ({"type": "mask", "masking_char": "#"}, "##### left"),
        ({"type": "mask", "chars_to_mask": 2, "from_end": True}, "Ald** left"),
        ({"type": "mask", "chars_to_mask": 99}, "***** left"),
        ({"type": "replace", "new_value": ""}, " left"),
    ],
)
def test_operators(rules, operator, expected):
    form = {"text": "Alder left", "analyzer_results": [{"start": 0, "end": 5, "entity_type": "PERSON"}]}
    assert rules.post("/anonymize", json=form | {"anonymizers": {"PERSON": operator}}).json()["text"] == expected


def test_no_character_of_overlapping_spans_stays():
    spans = [GivenSpan(0, 4, "A", 0.2), GivenSpan(2, 6, "B", 0.9), GivenSpan(3, 5, "C", 0.5), GivenSpan(6, 8, "D")]
    answer = anonymized("abcdefgh", spans, {})
    assert answer["text"] == "<B><D>"
    assert [(one["start"], one["end"], one["entity_type"]) for one in answer["items"]] == [(0, 3, "B"), (3, 6, "D")]


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        ({"type": "keep"}, "<PERSON> left"),
        ({"type": "mask", "chars_to_mask": 1}, "***** left"),
        ({"type": "mask", "chars_to_mask": 2}, "***** left"),
    ],
)
def test_an_operator_leaves_nothing_open_that_an_overlapping_span_hides(rules, operator, expected):
    found = [{"start": 0, "end": 5, "entity_type": "PERSON", "score": 0.5}]
    found.append({"start": 0, "end": 2, "entity_type": "DATE_TIME", "score": 0.9})
    form = {"text": "Alder left", "analyzer_results": found, "anonymizers": {"DATE_TIME": operator}}
    assert rules.post("/anonymize", json=form).json()["text"] == expected


def test_the_score_decides_between_spans_of_the_same_offsets(rules):
    found = [{"start": 0, "end": 5, "entity_type": name, "score": score} for name, score in (("A", 0.5), ("B", 0.9))]
    form = {"text": "Alder left", "analyzer_results": found, "anonymizers": {"B": {"type": "keep"}}}
    assert rules.post("/anonymize", json=form).json()["text"] == "Alder left"


@pytest.mark.parametrize("mode", ["label", "mask", "remove"])
def test_redact_gives_what_the_library_gives(rules, mode):
    expected = NoteDeidentifier(RuleTagger().fit([])).redact([TEXT], mode=mode)
    form = RedactRequest(text=TEXT, mode=mode).model_dump()
    assert [rules.post("/redact", json=form).json()["text"]] == expected


@pytest.mark.parametrize("path", ["/redact/", "/analyze/", "/v1/batch/"])
def test_no_redirection_sends_the_note_to_another_address(rules, path):
    """Behind a proxy with TLS, the location began with http, and clients sent the note again in the clear."""
    answer = rules.post(path, json={"text": TEXT}, follow_redirects=False)
    assert (answer.status_code, "location" in answer.headers) == (404, False)


@pytest.mark.parametrize("length", ["9" * 19, "9" * 5000, "-1", "+5", "5_0", "\u0665".encode()])
def test_a_length_that_is_no_length_is_refused(rules, length):
    """Python converts no text of 5,000 digits: the answer was 500."""
    assert rules.post("/redact", content=b"{}", headers={"content-length": length}).status_code == 413


def test_a_batch_has_no_number_that_json_has_not(rules):
    answer = rules.post("/v1/batch", content=b'{"id": 1e999, "text": "a"}\n{"id": 1e308, "text": "a"}')
    first, second = (json.loads(line, parse_constant=pytest.fail) for line in answer.text.splitlines())
    assert (first["id"], "error" in first, second) == (None, True, {"id": 1e308, "text": "a"})


def test_batch_keeps_the_order_and_names_what_fails(rules):
    lines = [{"id": n + 0.5 * (n == 7), "text": TEXT} for n in range(40)]
    body = [json.dumps(line) for line in lines] + ["not json " + NAME, "[1]", '{"id": "x", "text": 5}', ""]
    body += [json.dumps({"id": "nul", "text": NAME + "\x00"}), json.dumps({"id": {"a": NAME}, "text": "Fine."})]
    parts = "\n".join(body).encode()
    answer = rules.post("/v1/batch", content=(parts[n : n + 7] for n in range(0, len(parts), 7)))
    found = [json.loads(line) for line in answer.text.splitlines()]
    expected = NoteDeidentifier(RuleTagger().fit([])).redact([TEXT])[0]
    assert found[:40] == [{"id": line["id"], "text": expected} for line in lines]
    assert [(one["id"], "error" in one) for one in found[40:]] == [
        (None, True),
        (None, True),
        ("x", True),
        ("nul", True),
        (None, False),
    ]
    assert NAME not in str(found[40:])


def test_a_batch_repeats_no_id_that_repeats_the_text(rules):
    """A client that uses its texts as keys had the note beside its redaction in each line of the answer."""
    note = f"{NAME} was seen on the ward and went home."
    lines = [{"id": note, "text": note}, {"id": f"{NAME} 17", "text": note}, {"id": "Fine.", "text": "Fine."}]
    answer = rules.post("/v1/batch", content="\n".join(map(json.dumps, lines)))
    first, *others = map(json.loads, answer.text.splitlines())
    assert (first["id"], "repeats the text" in first["error"]) == (None, True)
    assert [(one["id"], "text" in one) for one in others] == [(f"{NAME} 17", True), ("Fine.", True)]


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("/redact", b'{"text": 5, "Zyxwvutski": 1}'),
        ("/redact", b'{"text": "Zyxwvutski", "mode": "Zyxwvutski"}'),
        ("/redact", b'{"text": "Zyxwvutski'),
        ("/redact", b"\xff"),
        ("/redact", b'{"text": "Zyxwvutski \\u0000"}'),
        ("/analyze", b'{"text": ["Zyxwvutski", 5]}'),
        ("/analyze", b'{"text": "x", "score_threshold": "Zyxwvutski"}'),
        ("/anonymize", b'{"text": "x", "analyzer_results": [{"Zyxwvutski": 1}]}'),
        ("/anonymize", b'{"text": "x", "analyzer_results": [], "anonymizers": {"Zyxwvutski": {"type": "hash"}}}'),
        ("/Zyxwvutski", b""),
        ("/redact", b"[" * 100_000),
    ],
)
def test_wrong_requests_get_an_error_without_their_text(rules, path, content, caplog):
    with caplog.at_level(logging.DEBUG):
        answer = rules.post(path, content=content, headers={"content-type": "application/json"})
    assert 400 <= answer.status_code < 500
    assert NAME not in answer.text + str(answer.headers) + caplog.text.replace(
        "HTTP Request: POST http://testserver" + path, ""
    )


def test_a_repeated_key_never_takes_spans_or_texts_away(rules):
    """Python's parser keeps the last value: a second, empty list of spans left the text as it was sent."""
    spans = '"analyzer_results": [{"start": 0, "end": 10, "entity_type": "PERSON"}]'
    headers = {"content-type": "application/json"}
    for path, content in (
        ("/anonymize", f'{{"text": "{NAME}", {spans}, "analyzer_results": []}}'),
        ("/anonymize", f'{{"text": "{NAME}", {spans[:-2]}, "end": 1}}]}}'),
        ("/redact", f'{{"text": "{NAME}", "text": "Fine."}}'),
    ):
        answer = rules.post(path, content=content, headers=headers)
        assert (answer.status_code, NAME in answer.text) == (400, False)
    lines = '{"id": 1, "text": "One.", "text": "Two."}\n{"id": 2, "id": 3, "text": "One."}\n{"id": 4, "text": "Four."}'
    found = [json.loads(line) for line in rules.post("/v1/batch", content=lines).text.splitlines()]
    assert ["error" in line for line in found] == [True, True, False]


def test_errors_of_the_model_tell_no_text(caplog):
    with caplog.at_level(logging.INFO, logger="sklearn_deid"):
        service = client(NoteDeidentifier(FragileTagger().fit([])))
        answers = [service.post(path, json={"text": TEXT}) for path in ("/redact", "/analyze")]
        answers += [service.post("/v1/batch", content=json.dumps({"text": TEXT})), service.get("/metrics")]
    assert [answer.status_code for answer in answers] == [422, 422, 200, 200]
    assert NAME not in caplog.text + "".join(answer.text + str(answer.headers) for answer in answers)
    assert 'sklearn_deid_notes_total{result="withheld"} 3' in answers[-1].text


def test_unexpected_errors_tell_no_text(monkeypatch, caplog):
    from sklearn_deid.integrations.service import app

    def fail(*_):
        raise RuntimeError(NAME)

    monkeypatch.setattr(app, "anonymized", fail)
    answer = client().post("/anonymize", json={"text": TEXT, "analyzer_results": []})
    assert (answer.status_code, NAME in answer.text + caplog.text) == (500, False)
    assert answer.json()["error"].startswith("The request failed.")
    assert f"{answer.headers['x-request-id']} RuntimeError" in caplog.text


def test_token():
    service = client(token="0123456789abcdef")
    for header in ({}, {"authorization": "Bearer 0123456789abcdeF"}, {"authorization": "0123456789abcdef"}):
        assert service.post("/redact", json={"text": TEXT}, headers=header).status_code == 401
        assert service.get("/metrics", headers=header).status_code == 401
    good = {"authorization": "Bearer 0123456789abcdef"}
    assert service.post("/redact", json={"text": TEXT}, headers=good).status_code == 200
    assert service.get("/health").status_code == 200


def test_limits():
    small = client(max_bytes=100)
    assert small.post("/redact", json={"text": "x" * 200}).status_code == 413
    assert small.post("/redact", content=iter([b'{"text": "', b"x" * 200, b'"}'])).status_code == 413
    line = json.dumps({"text": "Fine."}).encode() + b"\n"
    assert len(small.post("/v1/batch", content=line * 20).text.splitlines()) == 20
    assert small.post("/v1/batch", content=b"x" * 200).status_code in (200, 413)
    assert [client(rate=2).get("/recognizers").status_code] == [200]
    limited = client(rate=2)
    assert [limited.get("/recognizers").status_code for _ in range(4)] == [200, 200, 429, 429]
    assert client(max_waiting=0).post("/redact", json={"text": TEXT}).status_code == 503
    assert client(hosts=("localhost",)).get("/health").status_code == 400
    assert client(hosts=("testserver",)).get("/health").status_code == 200


@pytest.mark.parametrize("host", ["localhost", "LocalHost:80", "[::1]", "[::1]:80"])
def test_a_host_is_compared_without_port_and_case(host):
    """``[::1]`` without a port was cut at its last colon, and refused."""
    service = client(hosts=("localhost", "[::1]"))
    assert service.get("/health", headers={"host": host}).status_code == 200
    assert service.get("/health", headers={"host": f"{host}.example.org"}).status_code == 400


def asked(app, path, parts, pause=0.0):
    """Status and text of the answer to a request whose body arrives in parts. No test client sends so slowly."""
    headers = [(b"host", b"testserver"), (b"content-type", b"application/json")]
    scope = {"type": "http", "http_version": "1.1", "method": "POST", "path": path, "query_string": b""}
    scope |= {"scheme": "http", "client": ("127.0.0.1", 1), "headers": headers}
    left, sent = list(parts), []

    async def receive():
        await asyncio.sleep(pause)
        return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}

    async def send(message):
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent).decode()


def test_a_body_that_arrives_byte_after_byte_is_not_waited_for():
    """Each byte had the whole time again: the request, and the service after a signal, ended when the client wished."""
    app = make_app(RuleTagger().fit([]), ServiceLimits(timeout=0.3))
    whole = [b" "] * 40 + [b'{"text": "Fine."}']
    assert asked(app, "/redact", whole, pause=0.02)[0] == 408
    (last,) = asked(app, "/v1/batch", whole, pause=0.02)[1].splitlines()
    assert "has not arrived" in json.loads(last)["error"] and "have no answer" in json.loads(last)["error"]


def test_lines_of_a_batch_may_arrive_slowly():
    app = make_app(RuleTagger().fit([]), ServiceLimits(timeout=0.6))
    _, text = asked(app, "/v1/batch", [b'{"text"', b': "Fine."}\n'] * 10, pause=0.05)
    assert [json.loads(line)["text"] for line in text.splitlines()] == ["Fine."] * 10


def test_long_notes_are_read_in_small_batches(monkeypatch):
    """64 notes of 200 kB took longer than the time limit, and none was answered."""
    from sklearn_deid.integrations.service import app

    sizes = []

    class Counting(FragileTagger):
        def predict(self, X):
            sizes.append(sum(map(len, X)))
            return super().predict(X)

    monkeypatch.setattr(app, "_BATCH_BYTES", 1000)
    service = client(NoteDeidentifier(Counting().fit([])))
    del sizes[:]  # the canary
    line = json.dumps({"text": "word " * 100}).encode() + b"\n"
    lines = service.post("/v1/batch", content=line * 10).text.splitlines()
    assert len(lines) == 10 and all("text" in json.loads(line) for line in lines)
    assert max(sizes) <= 200 and sum(sizes) == 1000


def test_many_who_ask_at_once_share_one_check():
    """Without a token, /ready could fill the queue of the model, and all other requests were refused."""

    class Slow(FragileTagger):
        n_calls, go = 0, threading.Event()

        def predict(self, X):
            Slow.n_calls += 1
            assert self.go.wait(60)
            return super().predict(X)

    Slow.go.set()
    app = make_app(Slow().fit([]), ServiceLimits(max_waiting=2))
    Slow.go.clear()
    before, statuses = Slow.n_calls, []
    scope = {"type": "http", "http_version": "1.1", "method": "GET", "path": "/ready", "query_string": b""}
    scope |= {"scheme": "http", "client": ("127.0.0.1", 1), "headers": []}

    async def send(message):
        statuses.append(message.get("status"))

    async def use():
        waiting = [asyncio.ensure_future(app(dict(scope), None, send)) for _ in range(9)]
        await asyncio.sleep(0.05)
        Slow.go.set()
        await asyncio.gather(*waiting)

    try:
        asyncio.run(use())
    finally:
        Slow.go.set()
    assert ([one for one in statuses if one], Slow.n_calls - before) == ([200] * 9, 1)


def test_texts_of_requests_that_were_given_up_are_not_kept():
    """The queue of the model kept them: while one note took long, it grew far beyond the limit of waiting requests."""
    tagger = HangingTagger().fit([])
    app = make_app(tagger, ServiceLimits(timeout=0.1, max_waiting=2))
    scope = {"type": "http", "http_version": "1.1", "method": "POST", "path": "/redact", "query_string": b""}
    scope |= {"scheme": "http", "client": ("127.0.0.1", 1)}
    scope["headers"] = [(b"host", b"testserver"), (b"content-type", b"application/json")]

    async def status(text):
        sent, body = [], json.dumps({"text": text}).encode()

        async def receive():
            return {"type": "http.request", "body": body}

        async def send(message):
            sent.append(message)

        await app(dict(scope), receive, send)
        return sent[0]["status"]

    async def use():
        first = await status("Wait.")
        later = [await asyncio.gather(*(status(f"Given up {n}{k}.") for k in range(3))) for n in range(4)]
        # What ended with the last answers is freed in turn. The model still hangs, so that its queue would keep texts.
        # No id of a test, which pytest keeps in such a list, begins in this way.
        for _ in range(200):
            await asyncio.sleep(0.02)
            gc.collect()
            kept = [one[0] for one in gc.get_objects() if type(one) is list and len(one) == 1]
            n_kept = sum(type(text) is str and text.startswith("Given up ") for text in kept)
            if not n_kept:
                break
        tagger.go.set()
        while await status("Fine.") != 200:
            pass
        return first, later, n_kept

    try:
        first, later, n_kept = asyncio.run(use())
    finally:
        tagger.go.set()
    assert (first, n_kept) == (504, 0)
    assert [sorted(codes) for codes in later] == [[503, 504, 504]] * 4


def test_a_client_that_has_left_is_not_waited_for():
    """Clients that give up try again: the model read each of their notes, and all others waited for that."""
    read = []

    class Reading(HangingTagger):
        go = threading.Event()

        def predict(self, X):
            read.extend(" ".join(row) for row in X)
            return super().predict(X)

    app = make_app(Reading().fit([]), ServiceLimits())
    read.clear()
    scope = {"type": "http", "http_version": "1.1", "method": "POST", "path": "/redact", "query_string": b""}
    scope |= {"scheme": "http", "client": ("127.0.0.1", 1), "headers": [(b"content-type", b"application/json")]}

    async def status(text, *, leaves=False):
        messages, codes = [{"type": "http.request", "body": json.dumps({"text": text}).encode()}], []

        async def receive():
            if not messages and not leaves:
                await asyncio.Event().wait()
            return messages.pop() if messages else {"type": "http.disconnect"}

        async def send(message):
            codes.append(message.get("status"))

        await app(dict(scope), receive, send)
        return codes[:1]

    async def use():
        first = asyncio.ensure_future(status("Wait."))
        while not read:
            await asyncio.sleep(0.001)
        left = await asyncio.gather(*(status(f"Left {n}.", leaves=True) for n in range(5)))
        Reading.go.set()
        return left, await first, await status("Fine.")

    try:
        assert asyncio.run(use()) == ([[]] * 5, [200], [200])
    finally:
        Reading.go.set()
    assert read == ["Wait .", "Fine ."]
    answer = TestClient(app).get("/metrics").text
    assert 'requests_total{route="/redact",status="499"} 5' in answer


def test_a_line_that_asks_for_more_than_the_service_does_is_refused(rules):
    """``/redact`` refused such a field, and a line of a batch was redacted in another way than it said."""
    answer = rules.post(
        "/v1/batch", content=b'{"id": 1, "text": "Fine.", "mode": "remove"}\n{"id": 2, "text": "Fine."}'
    )
    found = [json.loads(line) for line in answer.text.splitlines()]
    assert [(one["id"], "error" in one) for one in found] == [(1, True), (2, False)]


def test_a_batch_that_breaks_off_says_so():
    """The connection alone told it, which a client of HTTP 1.0 cannot see: the notes that follow were missing."""
    line = b'{"id": 1, "text": "Fine."}\n'
    sent = []

    async def receive():
        return {"type": "http.request", "body": 65 * line + 200 * b"x" + NAME.encode() + line}

    async def send(message):
        sent.append(message)

    # Without a test client: those of earlier versions lose the answer of a request that fails.
    scope = {"type": "http", "http_version": "1.0", "method": "POST", "path": "/v1/batch", "query_string": b""}
    scope |= {"scheme": "http", "headers": [(b"host", b"testserver")], "client": ("127.0.0.1", 1)}
    asyncio.run(make_app(RuleTagger().fit([]), ServiceLimits(max_bytes=100))(scope, receive, send))
    text = b"".join(message.get("body", b"") for message in sent).decode()
    *found, last = [json.loads(one) for one in text.splitlines()]
    assert found == [json.loads(line)] * 64
    assert last["id"] is None and "have no answer" in last["error"] and NAME not in text
    assert sent[-1]["more_body"], "a client of HTTP 1.1 sees that the answer is not complete"


def test_ready_runs_the_canary():
    tagger = RuleTagger().fit([])
    service = client(tagger)
    assert service.get("/ready").json() == {"status": "ready"}
    tagger.set_params(recognizers=["email"]).fit([])
    assert service.get("/ready").status_code == 503


def test_metrics_count_routes_and_not_paths(rules):
    rules.get(f"/{NAME}?text={NAME}")
    text = rules.get("/metrics").text
    assert NAME not in text and 'route="other",status="404"' in text


def test_metrics_count_the_lines_of_a_batch_that_hold_no_note():
    """A client that sent compressed lines got the status 200, and the metrics counted no withheld note."""
    service = client()
    answer = service.post("/v1/batch", content=b'\x1f\x8b\n{"id": 1, "text": "Fine."}\n{"id": 2, "note": "Fine."}')
    assert ["error" in json.loads(line) for line in answer.text.splitlines()] == [True, False, True]
    text = service.get("/metrics").text
    assert 'result="done"} 1' in text and 'result="withheld"} 2' in text


def test_metrics_count_a_note_that_cannot_be_rewritten_as_withheld(monkeypatch):
    from sklearn_deid.integrations.service import app

    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr(app, "rewrite_note", fail)
    service = client()
    assert service.post("/redact", json={"text": "Fine."}).status_code == 422
    text = service.get("/metrics").text
    assert 'result="done"} 0' in text and 'result="withheld"} 1' in text


def test_the_description_names_the_answers(rules):
    """Statuses and types of answers, as clients that are made from the description expect them."""
    paths = make_app(RuleTagger().fit([])).app.openapi()["paths"]
    for path, kind in (("/health", "text/plain"), ("/metrics", "text/plain"), ("/v1/batch", "application/x-ndjson")):
        (described,) = paths[path].values()
        answer = rules.request("POST" if path == "/v1/batch" else "GET", path)
        assert answer.headers["content-type"].partition(";")[0] == kind in described["responses"]["200"]["content"]
    broken = rules.post("/redact", content=b"\xff{", headers={"content-type": "application/json"})
    assert broken.status_code == 400 and list(broken.json()) == ["error"]
    assert {"400", "413", "422", "503"} <= paths["/redact"]["post"]["responses"].keys()
    assert list(rules.get("/nothing").json()) == ["error"]
    assert rules.delete("/redact").headers["allow"] == "POST"


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("/analyze", {"text": TEXT, "score_threshold": False}),
        (
            "/anonymize",
            {"text": TEXT, "analyzer_results": [], "anonymizers": {"A": {"type": "redact", "from_end": 0}}},
        ),
    ],
)
def test_values_of_another_type_are_refused(rules, path, content):
    assert rules.post(path, json=content).status_code == 422


@pytest.mark.parametrize(
    ("form", "fields"),
    [
        (AnalyzeRequest, {"text": [None] * 99}),
        (AnalyzeRequest, {"text": "x", "entities": [1] * 99}),
        (AnonymizeRequest, {"text": "x", "analyzer_results": [{}] * 99}),
    ],
)
def test_reading_ends_at_the_first_wrong_element_of_a_list(form, fields):
    """An error for each element of a request of 1 MB took 1.2 GB, and 6 seconds in which nobody had an answer."""
    with pytest.raises(ValidationError) as caught:
        form.model_validate(fields)
    assert caught.value.error_count() < 10


@pytest.mark.parametrize("entities", [["EMAIL"], ["URL", "email_address"], ["PERSON"], ["PATIENT"], [NAME]])
def test_entity_that_the_service_never_gives_is_refused(rules, entities):
    """An empty answer would say that the text is clean."""
    answer = rules.post("/analyze", json={"text": TEXT, "entities": entities})
    assert answer.status_code == 422 and "supportedentities" in answer.json()["error"] and NAME not in answer.text


@pytest.mark.parametrize(("labels", "n_given"), [("hipaa", 1), ("hipaa-wide", 2), ("all", 3)])
def test_entity_that_the_rule_keeps_is_refused(labels, n_given):
    """starter-en finds professions and does not return them: a request for professions had an empty answer."""

    class Finder(FragileTagger):
        classes_ = np.array(["O", "B-PATIENT", "B-STATE", "B-PROFESION"], dtype=object)

    service = client(NoteDeidentifier(Finder().fit([]), labels=labels))
    names = ["PERSON", "LOCATION", "PROFESION"]
    known = service.get("/supportedentities").json()
    assert sorted(known) == sorted(names[:n_given])
    codes = [service.post("/analyze", json={"text": "Seen.", "entities": [name]}).status_code for name in names]
    assert codes == [200] * n_given + [422] * (3 - n_given)


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/analyze", {"ad_hoc_recognizers": [{"name": "staff", "supported_entity": "PERSON", "deny_list": [NAME]}]}),
        ("/redact", {"labels": "all"}),
        ("/redact", {"Mode": "remove"}),
    ],
)
def test_field_that_asks_for_more_than_is_found_is_refused(rules, path, field):
    """It was ignored, and the names of the list passed as clean."""
    assert rules.post(path, json={"text": TEXT, **field}).status_code == 422
    assert rules.post("/analyze", json={"text": TEXT, "ad_hoc_recognizers": []}).status_code == 200
    assert rules.post("/analyze", json={"text": TEXT, "allow_list": ["roe"]}).status_code == 200


def test_mask_without_a_character_is_refused(rules):
    form = {"text": TEXT, "analyzer_results": [{"start": 0, "end": 10, "entity_type": "PERSON"}]}
    answer = rules.post("/anonymize", json=form | {"anonymizers": {"PERSON": {"type": "mask", "chars_to_mask": 0}}})
    assert answer.status_code == 422 and NAME not in answer.text
