"""The official rules once more, character by character and tuple by tuple, as oracles for the counts."""

from hypothesis import strategies as st

from sklearn_deid import Document, Span

# Letters, digits, an accented letter, a digit that is not ASCII, a combining mark, a gap and punctuation.
ALPHABET = "abZ09é٣\u0301 .-\n"

I2B2_LABELS = {
    "PATIENT": "NAME",
    "DOCTOR": "NAME",
    "CITY": "LOCATION",
    "HOSPITAL": "LOCATION",
    "DATE": "DATE",
    "AGE": "AGE",
    "PHONE": "CONTACT",
    "IDNUM": "ID",
}
HIPAA_PAIRS = {("NAME", "PATIENT"), ("LOCATION", "CITY"), ("DATE", "DATE"), ("AGE", "AGE"), ("CONTACT", "PHONE")}


def as_tuples(spans):
    return {(I2B2_LABELS[s.label], s.label, s.start, s.end) for s in spans}


def as_tokens(text, spans):
    """Each maximal stretch of ASCII letters and digits in a span; an empty one at its end where there is none."""
    tokens = set()
    for category, label, start, end in as_tuples(spans):
        stretch, found = [], False
        for place in range(start, end + 1):
            ascii_alnum = place < end and text[place].isascii() and text[place].isalnum()
            if ascii_alnum:
                stretch.append(place)
            elif stretch:
                tokens.add((category, label, stretch[0], stretch[-1] + 1))
                stretch, found = [], True
        if not found:
            tokens.add((category, label, end, end))
    return tokens


def official(rule, text, gold, predicted):
    """(tp, fp, fn) of one document by the rule, HIPAA filter in front if its name says so."""
    if rule == "merged":
        return official_merged(text, gold, predicted)
    base = rule.removeprefix("hipaa_")
    sides = [as_tokens(text, s) if "token" in base else as_tuples(s) for s in (gold, predicted)]
    if rule != base:
        sides = [{item for item in side if item[:2] in HIPAA_PAIRS} for side in sides]
    if base.startswith("binary"):
        sides = [{item[2:] for item in side} for side in sides]
    wanted, given = sides
    slack = 2 if base == "relaxed" else 0

    def same(a, b):
        return a[:-1] == b[:-1] and abs(a[-1] - b[-1]) <= slack

    found = [a for a in wanted if any(same(a, b) for b in given)]
    invented = [b for b in given if not any(same(a, b) for a in wanted)]
    return len(found), len(invented), len(wanted) - len(found)


def official_merged(text, gold, predicted):
    wanted, given = ({(s.start, s.end) for s in side} for side in (gold, predicted))
    correct = wanted.intersection(given).union(merge(text, wanted).intersection(merge(text, given)))

    def forgiven(span):
        return any(span[0] >= c[0] and span[1] <= c[1] for c in correct)

    fp = [span for span in given.difference(wanted) if not forgiven(span)]
    fn = [span for span in wanted.difference(given) if not forgiven(span)]
    return len(correct), len(fp), len(fn)


def merge(text, spans):
    """Walk from the right instead of the left: a span is joined to what begins after it."""
    out = []
    for start, end in reversed(sorted(spans)):
        if out and not any(map(str.isalnum, text[end : out[-1][0]])):
            out[-1] = (start, out[-1][1])
        else:
            out.append((start, end))
    return set(out)


@st.composite
def spans_in(draw, length, labels=tuple(I2B2_LABELS), max_spans=6):
    """Any spans, overlapping and repeated ones too."""
    if not length:
        return []
    spans = []
    for _ in range(draw(st.integers(0, max_spans))):
        start = draw(st.integers(0, length - 1))
        spans.append(Span(start, draw(st.integers(start + 1, length)), draw(st.sampled_from(labels))))
    return spans


@st.composite
def disjoint_spans(draw, length, labels=tuple(I2B2_LABELS)):
    """Spans as annotators and taggers make them: none overlaps another."""
    borders = sorted(draw(st.sets(st.integers(0, length), max_size=10)))
    pairs = list(zip(borders[::2], borders[1::2], strict=False))
    if draw(st.booleans()):  # also spans that touch
        pairs = list(zip(borders, borders[1:], strict=False))
    return [Span(a, b, draw(st.sampled_from(labels))) for a, b in pairs]


@st.composite
def documents(draw, strategy=spans_in, doc_id="n"):
    """A text with gold and predicted spans; predicted ones are often gold ones, moved or relabelled a little."""
    text = draw(st.text(ALPHABET, min_size=1, max_size=24))
    gold = draw(strategy(len(text)))
    predicted = draw(strategy(len(text)))
    for span in gold:
        how = draw(st.sampled_from(["same", "moved", "renamed", "left out"]))
        if how == "left out" or (strategy is disjoint_spans and _overlaps(span, predicted)):
            continue
        end = max(span.start + 1, min(len(text), span.end + draw(st.integers(-3, 3)))) if how == "moved" else span.end
        moved = Span(span.start, end, "DOCTOR" if how == "renamed" else span.label)
        if strategy is not disjoint_spans or not _overlaps(moved, predicted):
            predicted.append(moved)
    return text, gold, predicted


def _overlaps(span, others):
    return any(span.start < other.end and other.start < span.end for other in others)


def note(text, spans=(), doc_id="n", patient_id=None):
    return Document(doc_id, text, tuple(spans), patient_id)
