"""The review page in a real browser: what a reader does, and what a hostile note cannot do."""

import http.server
import json
import threading
from dataclasses import replace

import pytest

from sklearn_deid import Corpus, Document, Span, load, write_corpus
from sklearn_deid.cli import main
from sklearn_deid.review import SignOff, make_review_page, write_review_page
from sklearn_deid.surrogates import SurrogateEngine
from sklearn_deid.text import redact

LABELS = {"PATIENT": "NAME", "DOCTOR": "NAME", "DATE": "DATE"}
NOTES = [
    Document("n1", "Seen by Birch on 3 May.\r\nBirch and Birchwood came.", (Span(8, 13, "DOCTOR", "NAME", 0.6),), "p1"),
    Document("n2", "\U0001f469\u200d\u2695 Dr. Birch, 3 May.", (Span(15, 20, "DATE", "DATE", 0.95),), "p2", {"a": 1}),
    Document("n3", "No pain."),
]
HOSTILE = [
    "</script><script>document.title = 'taken'</script>",
    "<img src=x onerror=\"document.title='taken'\"><!-- <script> ]]>",
    "'\"`${document.title='taken'}` \u2028\u2029 &lt;script&gt;document.title='taken'&lt;/script&gt; {{SCRIPT}}",
    "<iframe srcdoc=\"<script>parent.document.title='taken'</script>\"></iframe><svg onload=document.title='taken'>",
]


@pytest.fixture
def opened(page, tmp_path):
    path = tmp_path / "review.html"
    write_review_page(path, NOTES, LABELS)
    return page.open(path)


def spans(document):
    return [(document.text[span.start : span.end], span.label) for span in document.spans]


def test_nothing_is_saved_before_a_note_is_finished(opened):
    assert opened.text("#counts") == "0 of 3 notes finished"
    opened.click("#finish")
    (note,) = opened.saved()
    assert note == Document("n1", NOTES[0].text, (Span(8, 13, "DOCTOR", "NAME"),), "p1"), "confidence is gone: now gold"
    # The page named the file of the first save, and the next command read the spans of the earlier work.
    assert "such as reviewed (1).jsonl. Use the newest file." in opened.text("#status")
    assert opened.text("#name") == "n2"


def test_screen_readers_distinguish_all_buttons(opened):
    """One of two buttons "in all" marked a text in all notes, and the other one removed it from all notes."""
    script = "return [...document.querySelectorAll('button')].map((one) => one.ariaLabel || one.textContent)"
    names = opened.driver.execute_script(script)
    assert len(names) > 15 and len(set(names)) == len(names)


def test_a_missed_span_is_added_by_selecting_it(opened):
    opened.select(" 3 May").choose_label("DATE").click("#mark").click("#finish")
    (note,) = opened.saved()
    assert spans(note) == [("Birch", "DOCTOR"), ("3 May", "DATE")], "white space around is left out"
    assert note.spans[1].category == "DATE"


def test_selecting_over_a_span_corrects_its_borders(opened):
    opened.select("by Birch").press("m")
    assert opened.marks() == [("by Birch", "DOCTOR")]
    opened.press("s").press("s")
    assert opened.marks() == [("Birch", "DOCTOR")], "a key moves the start by a word, or over the space"
    opened.press("D")
    assert opened.marks() == [("Birc", "DOCTOR")], "with shift by a character"
    opened.press("u", "u", "u")
    assert opened.marks() == [("by Birch", "DOCTOR")]


def test_a_key_chooses_the_label_of_the_selected_text(opened):
    """The key changed the label of the chosen span, which was elsewhere in the note."""
    labels = opened.driver.execute_script("return [...document.querySelectorAll('#label option')].map((o) => o.value)")
    opened.click("#note mark").select("3 May").press(str(labels.index("DATE") + 1)).press("m").click("#finish")
    assert spans(opened.saved()[0]) == [("Birch", "DOCTOR"), ("3 May", "DATE")]


def test_a_label_chosen_before_the_text_says_what_it_changed(opened):
    """The first span of the note got the label that was meant for a missed one, without a word."""
    opened.choose_label("DATE")
    assert opened.marks() == [("Birch", "DATE")]
    assert opened.text("#status").startswith("The label of the chosen span is changed.")
    opened.click("#undo").select("3 May").choose_label("DATE")
    assert (opened.marks(), opened.text("#status")) == ([("Birch", "DOCTOR")], "Undone.")


def test_keys_change_the_label_remove_and_undo(opened):
    for key in "123":
        opened.press(key)
    labels = opened.driver.execute_script("return [...document.querySelectorAll('#label option')].map((o) => o.value)")
    assert opened.marks() == [("Birch", labels[2])]
    opened.choose_label("PATIENT")
    assert opened.marks() == [("Birch", "PATIENT")]
    opened.press("x")
    assert opened.marks() == []
    opened.press("u")
    assert len(opened.marks()) == 1


def test_everywhere_means_whole_words_and_one_undo(opened):
    opened.click("#note mark").press("E")
    assert opened.marks() == [("Birch", "DOCTOR")] * 2, "Birchwood stays"
    said = "2 spans are added. Undo takes all of them back. Inside of longer words, this text stays unmarked 1 times."
    assert opened.text("#status") == said, "in names that are inflected, and in Chinese, the reader has to look"
    opened.press("n")
    assert opened.marks() == [("Birch", "DOCTOR"), ("3 May", "DATE")], "in all notes"
    opened.press("u")
    assert opened.text("#name") == "n1"
    assert opened.marks() == [("Birch", "DOCTOR")]


def test_nothing_to_mark_is_no_step_of_undo(opened):
    """The page said that undo takes "0 spans" back. Undo then took another change back."""
    opened.press("e", "e")
    assert opened.text("#status").startswith("This text is marked already. Inside of longer words")
    opened.choose_label("DATE").select("3 May").click("#mark").press("e")
    assert opened.text("#status") == "This text is marked already."


def test_the_chosen_span_shows_that_it_is_uncertain(opened):
    """With keys, a span is chosen when it is looked at, and its frame was never dashed."""
    style = "return getComputedStyle(document.querySelector('#note mark')).outlineStyle"
    assert opened.driver.execute_script(style) == "dashed"
    assert "now" in opened.driver.find_element("css selector", "#note mark").get_attribute("class")


def test_offsets_count_code_points_in_the_file(opened):
    opened.press("n")
    assert opened.marks() == [("3 May", "DATE")]
    opened.select("Birch").choose_label("DOCTOR").click("#mark").press("\ue009\ue007")  # Ctrl+Enter
    (note,) = opened.saved()
    assert (note.text, note.meta, note.patient_id) == (NOTES[1].text, {"a": 1}, "p2")
    assert spans(note) == [("Birch", "DOCTOR"), ("3 May", "DATE")]


@pytest.mark.parametrize(
    "text", ["at \U0001f469Birch\U0001f469 now", "at \U0001f469\U0001d401\U0001d422\U0001d42b\U0001f469 now"]
)
def test_no_border_falls_inside_a_character(page, tmp_path, text):
    """A border that a key moved by a word fell between the halves of an emoji, and every command refused the file."""
    inner = (4, text.index(" now") - 1)
    write_review_page(tmp_path / "review.html", [Document("n1", text, (Span(*inner, "DOCTOR"),))], LABELS)
    page.open(tmp_path / "review.html").click("#note mark").press("a").press("f").click("#finish")
    assert page.saved()[0].spans == (Span(inner[0] - 1, inner[1] + 1, "DOCTOR", "NAME"),)
    page.press("s").press("d")
    assert spans(page.saved()[0]) == [(text[slice(*inner)], "DOCTOR")]


def test_everywhere_means_whole_words_of_letters_outside_of_the_basic_plane(page, tmp_path):
    word = "\U0001d401\U0001d422"
    note = Document("n1", f"{word}, {word}\U0001d42b, {word}.", (Span(0, 2, "DOCTOR"),))
    write_review_page(tmp_path / "review.html", [note], LABELS)
    page.open(tmp_path / "review.html").click("#note mark").press("e").click("#finish")
    assert [(span.start, span.end) for span in page.saved()[0].spans] == [(0, 2), (9, 11)]


@pytest.mark.parametrize("line_end", ["\r\n", "\r"])
def test_a_triple_click_selects_one_line_with_line_ends_of_windows(page, tmp_path, line_end):
    """The first letter of the next line was selected, too. The name there then lost its span, except for this letter.

    Lone "\\r" were not displayed: the last word of a line and the first word of the next line looked like one word.
    """
    from selenium.webdriver import ActionChains

    text = f"5 Elm Road{line_end}Birch came.{line_end}"
    at = text.index("Birch")
    note = Document("n1", text, (Span(at, at + 5, "DOCTOR"),))
    write_review_page(tmp_path / "review.html", [note], LABELS)
    page.open(tmp_path / "review.html")
    assert page.text("#note") == text
    box = page.driver.find_element("id", "note")
    mouse = ActionChains(page.driver, duration=0)
    mouse.move_to_element_with_offset(box, 40 - box.size["width"] // 2, 20 - box.size["height"] // 2)
    mouse.click().click().click().perform()
    page.click("#mark")
    assert [text for text, _ in page.marks()] == ["5 Elm Road", "Birch"]


def test_before_and_after_stand_side_by_side(opened):
    assert opened.text("#note") == NOTES[0].text
    wait_for(opened, NOTES[0].text.replace("Birch on", "[DOCTOR] on"), "#after")
    opened.choose_label("PATIENT")
    wait_for(opened, NOTES[0].text.replace("Birch on", "[PATIENT] on"), "#after")


def test_the_right_side_shows_overlapping_spans_as_redaction_writes_them(page, tmp_path):
    """An emoji counted twice, and the label of the longest span was the label of another one."""
    text = "at \U0001f469\U0001f469 Ann Birch, Roe"
    overlapping = (Span(3, 7, "DATE"), Span(6, 11, "DOCTOR"), Span(11, 15, "PATIENT"))
    write_review_page(tmp_path / "review.html", [Document("n1", text, overlapping)], LABELS)
    wait_for(page.open(tmp_path / "review.html"), redact(text, overlapping), "#after")


def test_the_browser_and_the_file_remember_the_work(opened, tmp_path):
    opened.click("#note mark").press("x").click("#finish")
    corpus = opened.saved()
    open_until(opened, tmp_path / "review.html", "1 of 3 notes finished")
    assert opened.saved() == corpus
    opened.driver.execute_script("localStorage.clear()")
    open_until(opened, tmp_path / "review.html", "0 of 3 notes finished")
    opened.driver.find_element("css selector", "#open").send_keys(str(opened.downloads / "reviewed.jsonl"))
    wait_for(opened, "1 of 3 notes finished")
    assert opened.saved() == corpus


def test_a_label_of_another_page_can_be_chosen(opened, tmp_path):
    """The choice was empty at its span. New spans had no label then, and every command refused the saved file."""
    found = Span(8, 13, "NURSE", "STAFF")
    write_corpus([Document("n1", NOTES[0].text, (found,), "p1")], tmp_path / "other.jsonl")
    opened.driver.find_element("css selector", "#open").send_keys(str(tmp_path / "other.jsonl"))
    wait_for(opened, "1 finished notes are read.", "#status")
    opened.select("Birchwood").click("#mark")
    expected = ((found, Span(35, 44, "NURSE", "STAFF")),)
    assert tuple(note.spans for note in opened.saved()) == expected
    open_until(opened, tmp_path / "review.html", "1 of 3 notes finished")
    assert tuple(note.spans for note in opened.saved()) == expected, "the browser knows the label again"


def test_two_tabs_share_the_work(opened, tmp_path):
    """The file of the tab that was opened first held the older work, without the leaks that the second one marked."""
    opened.select("3 May").choose_label("DATE").click("#mark")
    driver, first = opened.driver, opened.driver.current_window_handle
    driver.switch_to.new_window("tab")
    try:
        opened.open(tmp_path / "review.html").click("#note mark").press("x").click("#finish")
        driver.switch_to.window(first)
        wait_for(opened, "1 of 3 notes finished")
        assert [spans(note) for note in opened.saved()] == [[("3 May", "DATE")]]
        opened.click("#undo")
        assert opened.text("#status") == "There is nothing to undo.", "undo would take the work of the second tab away"
        assert [spans(note) for note in opened.saved()] == [[("3 May", "DATE")]]
    finally:
        for handle in driver.window_handles:
            if handle != first:
                driver.switch_to.window(handle)
                driver.close()
        driver.switch_to.window(first)


@pytest.mark.parametrize("spans", [{}, {"spans": None}, {"spans": [{"start": 0, "end": 99, "label": "DATE"}]}])
def test_lines_without_valid_spans_are_no_finished_notes(opened, tmp_path, spans):
    """A file of raw notes made all notes finished ones without PHI."""
    lines = [{"doc_id": note.doc_id, "text": note.text, **spans} for note in NOTES]
    (tmp_path / "raw.jsonl").write_text("".join(json.dumps(line) + "\n" for line in [*lines, None]))
    opened.driver.find_element("css selector", "#open").send_keys(str(tmp_path / "raw.jsonl"))
    wait_for(opened, "0 finished notes are read. 4 are no finished notes of this page.", "#status")
    assert opened.text("#counts") == "0 of 3 notes finished"


@pytest.mark.parametrize(
    ("spans", "n_lines"),
    [
        ([{"start": 8, "end": 13, "label": "DATE", "text": "Ann"}], 1),
        ([{"start": 8, "end": 13, "label": ""}], 1),
        ([], 2),
    ],
)
def test_lines_that_were_edited_by_hand_are_no_finished_notes(opened, tmp_path, spans, n_lines):
    """Offsets that miss their text were taken, and the last of two readings of a note, which `train` refuses."""
    line = json.dumps({"doc_id": "n1", "text": NOTES[0].text, "spans": spans}) + "\n"
    (tmp_path / "edited.jsonl").write_text(line * n_lines)
    opened.driver.find_element("css selector", "#open").send_keys(str(tmp_path / "edited.jsonl"))
    wait_for(opened, f"0 finished notes are read. {n_lines} are no finished notes of this page.", "#status")


def test_the_output_of_a_model_is_no_file_of_finished_notes(opened, tmp_path):
    """Chosen by mistake, the file of `suggest` finished all notes, and its saved copy had no confidences any more."""
    write_corpus([NOTES[0], NOTES[2]], tmp_path / "next.jsonl")
    opened.driver.find_element("css selector", "#open").send_keys(str(tmp_path / "next.jsonl"))
    message = "All spans of this file have the confidence of a model: nobody has read its notes."
    wait_for(opened, message, "#status")
    assert opened.text("#counts") == "0 of 3 notes finished"


@pytest.mark.parametrize("mode", ["review", "signoff"])
def test_a_file_without_any_span_is_pointed_out(page, tmp_path, mode):
    """Such a file, as of raw notes, finished all notes of the page without a word."""
    write_review_page(tmp_path / "page.html", NOTES, LABELS, mode=mode)
    opened = page.open(tmp_path / "page.html")
    lines = [{"doc_id": note.doc_id, "text": note.text, "spans": []} for note in NOTES]
    (tmp_path / "raw.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    opened.driver.find_element("css selector", "#open").send_keys(str(tmp_path / "raw.jsonl"))
    doubt = " None of them has a span: if nobody has read them, undo takes all of them back."
    wait_for(opened, f"3 finished notes are read.{doubt if mode == 'review' else ''}", "#status")
    opened.click("#undo")
    assert opened.text("#counts") == "0 of 3 notes finished"


def test_spans_of_a_model_among_those_of_a_reader_finish_no_note(opened, tmp_path):
    """A reading, to which the output of `suggest` was appended, finished the notes that nobody had read."""
    read = replace(NOTES[0], spans=(Span(0, 4, "DATE", "DATE"),))
    write_corpus([read, NOTES[1]], tmp_path / "joined.jsonl")
    opened.driver.find_element("css selector", "#open").send_keys(str(tmp_path / "joined.jsonl"))
    wait_for(opened, "1 finished notes are read. 1 are no finished notes of this page.", "#status")
    assert opened.text("#counts") == "1 of 3 notes finished"


def test_a_file_that_replaces_other_work_says_so(opened, tmp_path):
    """The file of a second reader took away, unseen, what the first one had marked."""
    opened.select("3 May").choose_label("DATE").click("#mark").click("#finish")
    lines = [{"doc_id": note.doc_id, "text": note.text, "spans": []} for note in NOTES]
    (tmp_path / "second.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    opened.driver.find_element("css selector", "#open").send_keys(str(tmp_path / "second.jsonl"))
    doubt = "None of them has a span: if nobody has read them, undo takes all of them back."
    message = f"3 finished notes are read. {doubt} 1 replace other work on finished notes. Undo takes all of them back."
    wait_for(opened, message, "#status")
    opened.click("#undo")
    assert spans(opened.saved()[0]) == [("Birch", "DOCTOR"), ("3 May", "DATE")]


def test_a_browser_that_cannot_store_the_work_says_so_until_the_end(opened):
    """The next step of the reader wrote over the warning in the same moment."""
    fail = "Storage.prototype.setItem = Storage.prototype.removeItem = () => { throw new Error('full'); }"
    opened.driver.execute_script(fail)
    opened.click("#finish")
    assert opened.text("#counts") == "1 of 3 notes finished"
    assert "cannot store your work" in opened.text("#status")
    opened.press("n")
    assert "cannot store your work" in opened.text("#status")


def test_work_that_cannot_be_stored_leaves_no_finished_note_with_older_work(opened, tmp_path):
    """After a reload, the note was finished without what was marked since, and the page did not say so."""
    opened.click("#finish").press("b").select("3 May").choose_label("DATE")
    opened.driver.execute_script("Storage.prototype.setItem = () => { throw new Error('full'); }")
    opened.click("#mark")
    assert len(opened.marks()) == 2 and "cannot store your work" in opened.text("#status")
    assert opened.driver.execute_script("return localStorage.length") == 0
    open_until(opened, tmp_path / "review.html", "0 of 3 notes finished")


def test_the_tab_of_unfinished_work_that_is_stored_nowhere_asks_before_it_closes(opened):
    """Only work on finished notes counted as unsaved: half a note was lost without a question."""
    asks = "return !dispatchEvent(new Event('beforeunload', { cancelable: true }))"
    opened.press("x")
    assert not opened.driver.execute_script(asks), "the browser has stored it"
    opened.driver.execute_script(
        "window.store = Storage.prototype.setItem; Storage.prototype.setItem = () => { throw new Error('full'); }"
    )
    opened.select("3 May").choose_label("DATE").click("#mark")
    opened.driver.execute_script("Storage.prototype.setItem = window.store")
    opened.press("n").press("x")
    assert opened.driver.execute_script(asks)
    opened.press("b").press("x")
    assert not opened.driver.execute_script(asks), "now the browser has stored this note, too"


def test_everywhere_covers_the_whole_text_where_a_part_of_it_is_marked(page, tmp_path):
    """Where a surname was marked, the first name stayed unmarked, and only the number of spans told it."""
    notes = [Document("n1", "Ann Birch came."), Document("n2", "Seen: Ann Birch.", (Span(10, 15, "DOCTOR"),))]
    notes.append(Document("n3", "To Ann Birch Ward.", (Span(7, 17, "DATE"),)))
    notes.append(Document("n4", "To Ann Birch Ward.", (Span(3, 17, "DATE"),)))
    write_review_page(tmp_path / "review.html", notes, LABELS)
    page.open(tmp_path / "review.html").select("Ann Birch").choose_label("PATIENT").click("#mark").click("#mark-all")
    assert page.text("#status") == "2 spans are added. Undo takes all of them back."
    for _ in notes:
        page.click("#finish")
    assert [spans(note) for note in page.saved()] == [
        [("Ann Birch", "PATIENT")],
        [("Ann Birch", "PATIENT")],
        [("Ann Birch", "PATIENT"), ("Birch Ward", "DATE")],
        [("Ann Birch Ward", "DATE")],
    ]


def test_metadata_comes_back_to_the_last_digit(page, tmp_path):
    """JavaScript rounds long numbers, such as those of records."""
    meta = {"record": 12345678901234567890, "version": 1.0, "of": {"2": [None], "1": "\u2028</script>"}}
    write_review_page(tmp_path / "review.html", [Document("n1", "Fine.", (), None, meta)], LABELS)
    (note,) = page.open(tmp_path / "review.html").click("#finish").saved()
    assert json.dumps(note.meta) == json.dumps(meta)


def open_until(page, path, text):
    """Chromium opens the page in a new process, which what the old one has stored may reach a moment later."""
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(page.driver, 30).until(lambda _: page.open(path).text("#counts") == text)


def wait_for(page, text, selector="#counts"):
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(page.driver, 10).until(lambda _: page.text(selector) == text)


def test_a_chosen_file_is_written_after_each_finished_note(opened):
    # The dialogue of the system cannot be used without a screen; a file that keeps its content stands for it.
    opened.driver.execute_script(
        "window.written = []; window.showSaveFilePicker = async () => ({createWritable: async () => "
        "({write: async (text) => window.written.push(text), close: async () => {}})})"
    )
    opened.click("#autosave").click("#finish")
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(opened.driver, 10).until(lambda d: d.execute_script("return window.written.length") == 2)
    assert json.loads(opened.driver.execute_script("return window.written[1]"))["doc_id"] == "n1"


def test_a_page_that_is_loaded_again_says_that_autosave_has_ended(opened, tmp_path):
    """Autosave was off after a reload, without a word: the notes that were finished then were not in the file."""
    from selenium.webdriver.support.ui import WebDriverWait

    picker = (
        "window.showSaveFilePicker = async () => ({createWritable: async () => "
        "({write: async () => {}, close: async () => {}})})"
    )
    said = "Autosave has ended, because the page was loaded again. Choose the file again."
    opened.driver.execute_script(picker)
    opened.click("#autosave")
    wait_for(opened, "0 finished notes are in the file.", "#status")
    # As in `open_until`: what the old process has stored may reach the new one a moment later.
    WebDriverWait(opened.driver, 30).until(lambda _: opened.open(tmp_path / "review.html").text("#status") == said)
    opened.press("n", "u")
    assert opened.text("#status") == f"There is nothing to undo. {said}"
    opened.driver.execute_script(picker)
    opened.click("#autosave")
    wait_for(opened, "0 finished notes are in the file.", "#status")


def test_a_slow_write_does_not_replace_a_later_one(opened):
    """On a slow disk, the file lost the notes that were finished during a write, and the page said that it had them."""
    from selenium.webdriver.support.ui import WebDriverWait

    opened.driver.execute_script(
        """
        window.file = ""; window.ended = 0; window.delays = [0, 1500, 0];
        window.showSaveFilePicker = async () => ({createWritable: async () => {
          const delay = window.delays.shift() || 0;
          let content = "";
          return {
            write: async (text) => { content += text; },
            close: () => new Promise((done) => setTimeout(() => {
              window.file = content;
              window.ended++;
              done();
            }, delay)),
          };
        }})
        """
    )
    opened.click("#autosave").click("#finish")
    opened.driver.set_script_timeout(20)
    opened.driver.execute_async_script("setTimeout(arguments[0], 800)")
    opened.click("#finish")
    WebDriverWait(opened.driver, 10).until(lambda driver: driver.execute_script("return window.ended") == 3)
    lines = opened.driver.execute_script("return window.file").splitlines()
    assert [json.loads(line)["doc_id"] for line in lines] == ["n1", "n2"]


@pytest.mark.parametrize(("width", "height"), [(640, 400), (420, 800)])
@pytest.mark.parametrize("mode", ["review", "signoff"])
def test_the_note_can_be_read_at_a_zoom_of_200_percent_and_in_a_narrow_window(page, tmp_path, mode, width, height):
    """A reader of a sign-off saw a single line of the note, and buttons were cut off."""
    release = [Document("n1", "Seen by Birch.\n" * 100)]
    write_review_page(tmp_path / "page.html", release, LABELS, mode=mode)
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        page.open(tmp_path / "page.html")
        script = "return [document.documentElement.scrollWidth, document.getElementById('note').clientHeight]"
        right, shown = page.driver.execute_script(script)
        assert right <= width and shown > height / 2
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("mode", ["review", "signoff"])
def test_a_print_shows_the_whole_note_without_buttons(page, tmp_path, mode):
    """A print ended in the middle of a note, with a page of buttons and without a word about the missing lines."""
    release = [Document("n1", "Seen by Birch.\n" * 400)]
    write_review_page(tmp_path / "page.html", release, LABELS, mode=mode)
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        page.open(tmp_path / "page.html")
        script = "const note = document.getElementById('note'); return [note.clientHeight, note.scrollHeight]"
        shown, whole = page.driver.execute_script(script)
        script = "return document.documentElement.scrollHeight"
        assert shown == whole > 4000 and page.driver.execute_script(script) > whole
        assert not any(one.is_displayed() for one in page.driver.find_elements("css selector", "button, select, nav"))
        assert page.driver.find_element("id", "name").is_displayed()
    finally:
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_all_buttons_are_reached_by_keys_and_keys_work_after_each_choice(opened, tmp_path):
    """ "Open file" could not be reached, and after it and the choice of the view, the keys of the page did nothing."""
    from selenium.webdriver import ActionChains, Keys

    reached, active = set(), "return document.activeElement.id"
    for _ in range(25):
        ActionChains(opened.driver).send_keys(Keys.TAB).perform()
        reached.add(opened.driver.execute_script(active))
    buttons = """return [...document.querySelectorAll('button[id], input, select')]
      .filter((element) => element.checkVisibility()).map((element) => element.id)"""
    assert {"open", "save", "view"} <= set(opened.driver.execute_script(buttons)) <= reached
    line = json.dumps({"doc_id": "n1", "text": NOTES[0].text, "spans": [{"start": 0, "end": 4, "label": "DATE"}]})
    (tmp_path / "read.jsonl").write_text(line)
    opened.driver.execute_script("document.getElementById('open').focus()")
    opened.driver.find_element("css selector", "#open").send_keys(str(tmp_path / "read.jsonl"))
    wait_for(opened, "1 finished notes are read.", "#status")
    opened.press("n")
    assert opened.text("#name") == "n2"


def test_a_double_click_and_a_key_that_is_held_finish_one_note(opened):
    """A held Ctrl+Enter finished all notes of a sign-off, and a double click the next note, which nobody had read."""
    from selenium.webdriver import ActionChains

    ActionChains(opened.driver, duration=0).double_click(opened.driver.find_element("id", "finish")).perform()
    assert (opened.text("#counts"), opened.text("#name")) == ("1 of 3 notes finished", "n2")
    held = """for (const repeat of [false, true, true]) document.getElementById('note').dispatchEvent(
      new KeyboardEvent('keydown', { ...arguments[0], repeat, bubbles: true, cancelable: true }));"""
    opened.driver.execute_script(held, {"key": "Enter", "ctrlKey": True})
    assert (opened.text("#counts"), opened.text("#name")) == ("2 of 3 notes finished", "n3")
    opened.press("b", "b").select("3 May").choose_label("DATE").click("#mark")
    opened.driver.execute_script(held, {"key": "x"})
    assert opened.marks() == [("Birch", "DOCTOR")], "one of two"
    opened.driver.execute_script(held, {"key": "Z", "ctrlKey": True, "shiftKey": True})
    assert opened.marks() == [("Birch", "DOCTOR")], "no undo: these are the keys of a redo"


def test_letters_that_choose_a_label_are_no_keys_of_the_page(page, tmp_path):
    """Behind the first letter of "FAX", the focus was in the note: "A" moved the border, and "X" removed the span."""
    from selenium.webdriver import ActionChains, Keys

    write_review_page(tmp_path / "review.html", NOTES, {**LABELS, "FAX": "CONTACT"})
    page.open(tmp_path / "review.html").driver.execute_script("document.getElementById('label').focus()")
    ActionChains(page.driver).send_keys("fax").perform()
    assert page.marks() == [("Birch", "FAX")]
    ActionChains(page.driver).send_keys(Keys.ENTER).send_keys("x").perform()
    assert page.marks() == [], "Enter goes back to the note"


def test_keys_leave_a_list_of_more_notes_than_rows(page, tmp_path):
    """Tab at the last row scrolled the list, the new rows had no focus, and Tab began again at the first row."""
    from selenium.webdriver import ActionChains, Keys

    write_review_page(tmp_path / "page.html", [Document(f"n{n}", "Seen by Birch.") for n in range(60)], LABELS)
    page.open(tmp_path / "page.html")
    active = "return document.activeElement.id || document.activeElement.dataset.note"
    page.driver.execute_script("document.getElementById('help-button').focus()")
    ActionChains(page.driver).send_keys(Keys.TAB).perform()
    assert page.driver.execute_script(active) == "0"
    page.press("n", "n")
    assert page.driver.execute_script(active) == "2" and page.text("#name") == "n2", "the new row keeps the focus"
    ActionChains(page.driver).send_keys(Keys.TAB).perform()
    assert page.driver.execute_script(active) == "label"
    page.click("#rows button[data-note='4'] bdi")
    assert page.driver.execute_script(active) == "note" and page.text("#name") == "n4", "Enter accepts a span"


def test_shift_with_an_arrow_extends_the_selection(opened):
    """The keys chose another span instead, and "M" marked the shorter selection."""
    from selenium.webdriver.common.keys import Keys

    opened.select("3 Ma").choose_label("DATE").select("3 Ma").press(Keys.SHIFT + Keys.ARROW_RIGHT).press(Keys.NULL, "m")
    assert ("3 May", "DATE") in opened.marks()


def test_keys_that_move_the_cursor_of_the_browser_are_left_to_the_browser(opened):
    """With F7, readers without a mouse select text with these keys. The list of keys did not say how to add a span."""
    script = """
    return arguments[0].every(([key, ctrlKey, shiftKey]) => document.getElementById('note').dispatchEvent(
      new KeyboardEvent('keydown', { key, ctrlKey, shiftKey, bubbles: true, cancelable: true })));
    """
    keys = [("F7", False, False), ("ArrowUp", False, False), ("ArrowDown", False, False)]
    keys += [(f"Arrow{way}", ctrl, shift) for way in ("Left", "Right") for ctrl, shift in ((1, 0), (0, 1), (1, 1))]
    assert opened.driver.execute_script(script, keys)
    assert "F7" in opened.text("#help") and "without a mouse" in opened.text("#help")


def test_the_number_of_spans_stands_behind_an_id_from_right_to_left(page, tmp_path):
    """The number was in front of a Hebrew id, or inside of an id with marks of the direction."""
    notes = [Document("a", "No pain."), Document("\u05d3\u05d5\u05d3 12", "No pain.")]
    write_review_page(tmp_path / "page.html", notes, LABELS)
    page.open(tmp_path / "page.html").click("#rows button:nth-child(2) bdi")
    script = """const row = document.querySelectorAll('#rows button')[1], range = document.createRange();
      const box = (node) => (range.selectNodeContents(node), range.getBoundingClientRect());
      return [box(row.querySelector('bdi')).right, box(row.lastChild).left, row.textContent]"""
    right, left, text = page.driver.execute_script(script)
    assert left >= right - 1 and text == f"{notes[1].doc_id} (0)" and page.text("#name") == notes[1].doc_id


def test_the_list_holds_only_the_rows_in_view(page, tmp_path):
    notes = [Document(f"n{number:04}", "Seen by Birch.") for number in range(1000)]
    write_review_page(tmp_path / "review.html", notes, LABELS)
    page.open(tmp_path / "review.html")
    script = "return document.querySelectorAll('#rows button').length"
    assert 10 < page.driver.execute_script(script) < 100
    page.driver.execute_script("document.getElementById('list').scrollTop = 28 * 900")
    page.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    page.click("#rows button[data-note='905']")
    assert page.text("#name") == "n0905"


def test_the_view_with_surrogates_shows_no_time_zone_of_the_original(page, tmp_path):
    """ "EDT" stayed in the view, as if it left with the note; `redact` replaces it."""
    text = "\U0001f469 Seen 3/4/2019 14:30 EDT, left at 16:00 EDT."
    note, engine = Document("n1", text, (Span(7, 21, "DATE"),)), SurrogateEngine(key=bytes(32), locale="en")
    write_review_page(tmp_path / "review.html", [note], LABELS, surrogates=engine)
    page.open(tmp_path / "review.html")
    wait_for(page, text.replace("3/4/2019 14:30", "[DATE]"), "#after")
    page.driver.execute_script(
        "const view = document.getElementById('view'); view.value = 'surrogate';view.dispatchEvent(new Event('change'))"
    )
    shown = engine.rewrite(note).text
    assert "EDT" not in shown
    wait_for(page, shown, "#after")
    page.press("x")
    wait_for(page, text, "#after")


def test_the_time_for_a_file_does_not_grow_with_the_square_of_a_note(page, tmp_path):
    """With one emoji, each border counted all characters before it: 20,000 words took 3 s to save, 12 s to open."""
    text = "\U0001f469 " + "Birch, " * 400
    birches = [Span(at, at + 5, "DOCTOR") for at in range(2, len(text), 7)]
    write_review_page(tmp_path / "review.html", [Document("n1", text, birches)], LABELS)
    page.open(tmp_path / "review.html").click("#finish")
    page.driver.execute_script("""
      const slice = String.prototype.slice, spread = String.prototype[Symbol.iterator];
      window.read = 0;
      String.prototype.slice = function (...borders) {
        const part = slice.apply(this, borders);
        window.read += part.length;
        return part;
      };
      String.prototype[Symbol.iterator] = function () {
        window.read += this.length;
        return spread.call(this);
      };
    """)
    assert [span.start for span in page.saved()[0].spans] == [span.start for span in birches]
    assert page.driver.execute_script("return window.read") < 10 * len(text)


def test_hostile_notes_run_nothing_and_come_back_unchanged(page, tmp_path):
    notes = [Document(f"<b>{number}", text, (Span(0, 3, text[:12]),)) for number, text in enumerate(HOSTILE)]
    write_review_page(tmp_path / "review.html", notes, {"'><script>": "<i>"})
    page.open(tmp_path / "review.html")
    for note in notes:
        assert page.text("#note") == note.text
        assert page.text("#name") == note.doc_id
        page.click("#finish")
    assert page.saved() == Corpus(notes)
    assert page.driver.title == "Review of notes"
    assert page.driver.execute_script("return document.querySelectorAll('img, iframe, svg, #note script').length") == 0
    assert [row for row in page.driver.get_log("browser") if row["level"] == "SEVERE"] == []


def test_no_request_leaves(opened, tmp_path):
    opened.click("#note mark").press("E").click("#finish")
    opened.saved()
    assert all(url.startswith(("file://", "blob:", "data:")) for url in opened.requests())
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        # Even a script that got into the page could not send anything.
        failed = opened.driver.execute_async_script(
            "const done = arguments[1]; new Image().src = arguments[0] + 'image';"
            "navigator.sendBeacon(arguments[0] + 'beacon', 'x');"
            "fetch(arguments[0] + 'fetch').then(() => done(false), () => done(true));",
            address,
        )
        server.shutdown()
    assert failed and asked == []


def test_a_reader_marks_leaks_for_the_sign_off(page, tmp_path):
    release = [Document(f"n{number}", "[DATE]: seen by Birch.") for number in range(2)]
    write_review_page(tmp_path / "signoff.html", release, LABELS, mode="signoff")
    page.open(tmp_path / "signoff.html")
    assert not page.driver.find_element("id", "after").is_displayed()
    page.select("Birch").choose_label("DOCTOR").click("#mark").click("#finish").click("#finish")
    found = SignOff(2).assess(page.saved("read.jsonl"), n_release=2)
    assert (found.notes_.n_leaks, found.notes_.upper, found.leaks_by_label_) == (1, 0.5, {"DOCTOR": 1})


def test_corrections_change_the_trained_model(page, tmp_path, capsys):
    texts = [f"Seen by {name} on {day} May." for day, name in enumerate(["Zorblax", "Ann", "Zorblax", "Roe"], 1)]
    notes = [
        Document(f"n{n}", text, (Span(text.index(" on ") + 4, len(text) - 1, "DATE"),)) for n, text in enumerate(texts)
    ]
    write_corpus(notes, tmp_path / "tagged.jsonl")
    assert main(["review", str(tmp_path / "tagged.jsonl"), "--output", str(tmp_path / "work")]) == 0
    page.open(tmp_path / "work" / "review.html")
    for name in ("Zorblax", "Ann", "Zorblax", "Roe"):
        if (name, "DOCTOR") not in page.marks():
            page.select(name).choose_label("DOCTOR").click("#mark")
        page.click("#finish")
    reviewed = tmp_path / "reviewed.jsonl"
    write_corpus(page.saved(), reviewed)
    found = []
    for number, corpus in enumerate([tmp_path / "tagged.jsonl", reviewed]):
        model = tmp_path / f"model-{number}"
        assert main(["train", str(corpus), "--model", str(model), "--epochs", "15", "--quiet"]) == 0
        found.append(load(model).redact(["Seen by Zorblax on 2 May."])[0])
    assert "Zorblax" in found[0] and "Zorblax" not in found[1]


@pytest.mark.parametrize(("options", "message"), [({"mode": "edit"}, "'mode'"), ({}, "'labels'")])
def test_wrong_parameters_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        make_review_page([Document("n", "Fine.")], {}, **options)


@pytest.mark.parametrize("labels", [["NAME"], "NAME", None, {"": None}, {1: None}, {"NAME": 1}])
def test_labels_that_no_reader_could_save_are_refused(labels, tmp_path):
    """A list ended in a TypeError without a name; other labels gave a page whose finished notes cannot be read."""
    with pytest.raises(ValueError, match="'labels' parameter of make_review_page must be a mapping"):
        write_review_page(tmp_path / "review.html", NOTES, labels)
    assert list(tmp_path.iterdir()) == []


def test_a_page_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="review.html"):
        write_review_page(tmp_path / "review.html", NOTES, LABELS)
    assert list(tmp_path.iterdir()) == []


def test_two_notes_of_one_id_are_refused():
    with pytest.raises(ValueError, match="distinct"):
        make_review_page([NOTES[0], NOTES[0]], LABELS)


def test_the_name_of_the_stored_work_says_nothing_about_the_notes():
    """It was a digest of the notes, which stays in the browser and confirms guesses of a note."""
    keys = [json.loads(page.split('id="data">')[1].split("<")[0])["key"] for page in (made(), made())]
    assert keys[0] != keys[1] and all(len(key) == 32 for key in keys)


def made():
    return make_review_page(NOTES, LABELS)
