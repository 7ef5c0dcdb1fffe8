"""From raw notes without annotations to a signed-off release, through the command line and a headless browser.

    python -m benchmarks.first_day --notes 200 --review 20 --sample 20 --seed 0

The notes are generated. Their annotations serve only the script that takes the place of the reader: in the page, this
script removes wrong spans, corrects borders and labels, and adds missed PHI by selecting it, with the mouse events and
buttons that a reader uses. Prints one JSON object with the seconds of each step. The seconds in the page are those of
the script and the browser. A person needs longer: the words to read and the corrections are counted.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from sklearn_deid import Corpus, Document, Span, make_clinical_notes, write_corpus
from sklearn_deid.tagging import is_safe_harbor

from .environment import describe
from .review_page import FLAGS

#: Words a minute of adults who read English prose silently (Brysbaert, 2019, Journal of Memory and Language 109).
READING_SPEED = 238
_SPANS = """
const text = document.getElementById('note'), found = [];
let position = 0;
for (const node of text.childNodes) {
  if (node.nodeName === 'MARK') found.push([position, position + node.textContent.length, node.dataset.label]);
  position += node.textContent.length;
}
return found;
"""
_CHOOSE = """
for (const mark of document.querySelectorAll('#note mark')) {
  const before = document.createRange();
  before.setStart(document.getElementById('note'), 0);
  before.setEndBefore(mark);
  if (before.toString().length === arguments[0]) { getSelection().removeAllRanges(); mark.click(); return true; }
}
return false;
"""
_SELECT = """
const nodes = [], walker = document.createTreeWalker(document.getElementById('note'), NodeFilter.SHOW_TEXT);
while (walker.nextNode()) nodes.push(walker.currentNode);
const place = (offset) => {
  for (const node of nodes) { if (offset <= node.length) return [node, offset]; offset -= node.length; }
};
getSelection().setBaseAndExtent(...place(arguments[0]), ...place(arguments[1]));
"""


class Reader:
    """A browser with the page, and a script that corrects its notes until they hold the given spans."""

    def __init__(self, folder: Path) -> None:
        from selenium import webdriver

        self.folder, self.n_corrections = folder, 0
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or ""
        for flag in (*FLAGS.split(), f"--user-data-dir={folder / 'profile'}"):
            options.add_argument(flag)
        options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
        options.set_capability("unhandledPromptBehavior", "accept")
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))

    def open(self, page: Path) -> None:
        """Show the first note of a page."""
        self.driver.get(page.as_uri())

    def note(self) -> str:
        """Id of the note that is shown."""
        return self.driver.find_element("id", "name").text.removesuffix(" (finished)")

    def click(self, name: str) -> None:
        """Click on a button."""
        self.driver.find_element("id", name).click()

    def correct(self, wanted: list[Span]) -> None:
        """Change the spans of the note that is shown to those wanted, and finish it."""
        for start, end, _ in self.driver.execute_script(_SPANS):
            if not any(span.start < end and start < span.end for span in wanted):
                self._change(start, "remove")
        for span in wanted:
            shown = self.driver.execute_script(_SPANS)
            if [span.start, span.end, span.label] not in shown:
                self._mark(span, any(span.start < end and start < span.end for start, end, _ in shown))
        self.click("finish")

    def _change(self, start: int, button: str) -> None:
        if not self.driver.execute_script(_CHOOSE, start):
            raise RuntimeError("A span of the page cannot be chosen.")
        self.click(button)
        self.n_corrections += 1

    def _mark(self, span: Span, is_shown: bool) -> None:
        if not is_shown:
            self._label(span.label)
        self.driver.execute_script(_SELECT, span.start, span.end)
        self.click("mark")
        if is_shown:
            self._label(span.label)
        self.n_corrections += 1

    def _label(self, label: str) -> None:
        from selenium.webdriver.support.ui import Select

        self.driver.execute_script("getSelection().removeAllRanges()")
        Select(self.driver.find_element("id", "label")).select_by_value(label)

    def save(self, name: str) -> Path:
        """Click on "Save file", and wait for the file."""
        self.click("save")
        for _ in range(100):
            if (self.folder / name).exists():
                return self.folder / name
            time.sleep(0.1)
        raise RuntimeError("The page has saved no file.")


class Day:
    """The steps of the first day in one folder, with their seconds."""

    def __init__(self, folder: Path, arguments: argparse.Namespace) -> None:
        self.folder, self.arguments = folder, arguments
        self.steps: list[dict[str, Any]] = []
        made = make_clinical_notes(arguments.notes, random_state=arguments.seed)
        self.notes = {note.doc_id: note for note in made}
        self.raw = str(folder / "raw")
        write_corpus(Corpus(Document(note.doc_id, note.text) for note in made), self.raw, format="text", lossy=True)

    def run(self) -> None:
        """All steps, one after the other."""
        starter = ("--model", "starter-en")
        self.command("redact with the starter", "redact", self.raw, *starter, "--output", self.path("starter"))
        self.command("write the review page", "review", self.raw, *starter, "--output", self.path("work"))
        reviewed = self.read("correct notes in the page", "work/review.html", self.arguments.review, self.safe_harbor)
        model, start = ("--model", self.path("model")), ("--from", "starter-en", "--labels", "hipaa")
        self.command("train on from the starter", "train", reviewed, *start, *model)
        known = ("redact", self.raw, *model, "--reviewed", reviewed)
        self.command("redact with surrogates", *known, "--mode", "surrogate", "--output", self.path("surrogates"))
        self.command("redact with labels", *known, "--output", self.path("labels"))
        release = ("signoff", self.path("labels"), "--output", self.path("signoff"))
        sample = ("--sample", str(self.arguments.sample), "--target", str(self.arguments.target))
        self.command("draw the sample", *release, *sample)
        read = self.read("read the sample", "signoff/signoff.html", self.arguments.sample, self.leaks)
        # Exit code 1: the bound is above the target.
        self.command("sign off", *release, "--read", read, allowed=(0, 1))

    def path(self, name: str) -> str:
        """A path in the folder of the day."""
        return str(self.folder / name)

    def command(self, title: str, *words: str, allowed: tuple[int, ...] = (0,)) -> None:
        """Run one command of the package as a new process."""
        start = time.perf_counter()
        done = subprocess.run([sys.executable, "-m", "sklearn_deid", *words], capture_output=True, text=True)
        seconds = time.perf_counter() - start
        if done.returncode not in allowed:
            raise RuntimeError(f"{title}: exit code {done.returncode}\n{done.stderr}")
        self.steps.append({"step": title, "seconds": round(seconds, 1), "exit_code": done.returncode})

    def read(self, title: str, page: str, n_notes: int, wanted: Any) -> str:
        """Read notes in a page, save the file, and return its path."""
        start, n_words = time.perf_counter(), 0
        reader = Reader(self.folder)
        try:
            reader.open(self.folder / page)
            for _ in range(n_notes):
                note = self.notes[reader.note()]
                n_words += len(note.text.split())
                reader.correct(wanted(note))
            saved = reader.save("reviewed.jsonl" if page.startswith("work") else "read.jsonl")
        finally:
            reader.driver.quit()
        step = {"step": title, "seconds": round(time.perf_counter() - start, 1), "words": n_words}
        self.steps.append({**step, "corrections": reader.n_corrections, "reading_minutes": n_words / READING_SPEED})
        return str(saved)

    @staticmethod
    def safe_harbor(note: Document) -> list[Span]:
        """PHI that the reader marks in a raw note."""
        return [span for span in note.spans if is_safe_harbor(span, note.text)]

    def leaks(self, note: Document) -> list[Span]:
        """PHI that is still readable in the redacted note: an upper count, since equal words may not be PHI."""
        text = Path(self.path("labels"), f"{note.doc_id}.txt").read_text(encoding="utf-8")
        found: dict[int, Span] = {}
        for span in self.safe_harbor(note):
            words = note.text[span.start : span.end]
            start = text.find(words)
            if (
                start >= 0
                and len(words) > 3
                and not any(s.start < start + len(words) and start < s.end for s in found.values())
            ):
                found[start] = Span(start, start + len(words), span.label)
        return list(found.values())


def main(argv: list[str] | None = None) -> None:
    """Run the day in a temporary folder, and print its seconds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--notes", type=int, default=200, help="raw notes")
    parser.add_argument("--review", type=int, default=20, help="notes to correct in the page")
    parser.add_argument("--sample", type=int, default=20, help="redacted notes to read for the sign-off")
    parser.add_argument("--target", type=float, default=0.15, help="largest share of leaking notes")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        day = Day(Path(folder), arguments)
        day.run()
        record = json.loads(Path(day.path("signoff/signoff-record.json")).read_text())["result"]
    minutes = sum(step["seconds"] for step in day.steps) / 60
    reading = sum(step.get("reading_minutes", 0.0) for step in day.steps)
    result = {"benchmark": "first_day", **vars(arguments), "steps": day.steps, "sign_off": record}
    print(json.dumps({**result, "computer_minutes": minutes, "reading_minutes": reading, **describe()}, indent=1))


if __name__ == "__main__":
    main()
