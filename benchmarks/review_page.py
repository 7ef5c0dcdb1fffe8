"""How fast the review page opens and answers, in headless Chromium.

``python -m benchmarks.review_page --notes 1000 --tokens 500 --seed 0`` prints one JSON object: milliseconds until the
first note is shown, and the largest of several times from a click to the next drawn frame, for each action.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from sklearn_deid import Document, Span, make_clinical_notes
from sklearn_deid.review import write_review_page
from sklearn_deid.text import get_label_scheme, tokenize

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1400,900"
)
# From the click to the second frame after it, so that layout and drawing are included.
_CLICK = """
const done = arguments[1], button = document.querySelector(arguments[0]), start = performance.now();
button.click();
requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
"""
ACTIONS = {
    "choose a span": "#note mark:last-of-type",
    "accept": "#accept",
    "same text in all notes": "#mark-all",
    "undo in all notes": "#undo",
    "remove": "#remove",
    "undo": "#undo",
    "finished, next note": "#finish",
}


def long_notes(n_notes: int, n_tokens: int, seed: int) -> list[Document]:
    """Generated notes, joined until each has the number of tokens."""
    source = iter(make_clinical_notes(n_notes * (2 + n_tokens // 100), random_state=seed))
    notes = []
    for number in range(n_notes):
        text, spans = "", []
        while len(tokenize(text).starts) < n_tokens:
            part = next(source)
            spans += [replace(s, start=s.start + len(text), end=s.end + len(text), confidence=0.9) for s in part.spans]
            text += part.text + "\n"
        cut = tokenize(text).ends[n_tokens - 1]
        kept: tuple[Span, ...] = tuple(span for span in spans if span.end <= cut)
        notes.append(Document(f"note-{number:05}", text[:cut], kept))
    return notes


def measure(path: Path, n_clicks: int, profile: str) -> dict[str, float]:
    """Milliseconds to open the page, and the largest time of each action."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in (*FLAGS.split(), f"--user-data-dir={profile}"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        driver.get(path.as_uri())
        timing = "return performance.getEntriesByType('navigation')[0].loadEventEnd"
        found = {"open": driver.execute_script(timing)}
        for name, selector in ACTIONS.items():
            times = [driver.execute_async_script(_CLICK, selector) for _ in range(n_clicks)]
            found[name] = max(times)
        return found
    finally:
        driver.quit()


def main() -> None:
    """Make the page, and print the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=1000)
    parser.add_argument("--tokens", type=int, default=500)
    parser.add_argument("--clicks", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    notes = long_notes(arguments.notes, arguments.tokens, arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "review.html")
        write_review_page(path, notes, get_label_scheme("i2b2-2014").categories)
        size = path.stat().st_size
        found = measure(path, arguments.clicks, str(Path(folder, "profile")))
    n_spans = sum(len(note.spans) for note in notes)
    print(json.dumps({"notes": len(notes), "spans": n_spans, "bytes": size, "milliseconds": found}, indent=1))


if __name__ == "__main__":
    main()
