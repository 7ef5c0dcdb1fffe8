"use strict";
// The page of `sklearn-deid review` and `sklearn-deid signoff`. Text of notes enters the page only as text nodes.
// Offsets inside this file count UTF-16 units, as JavaScript does. Files hold offsets in code points, as Python does.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const ROW = 28, UNSURE = 0.9, LETTER = /[\p{L}\p{N}\p{M}]/u;
  const categoryOf = new Map(), categories = [];
  const notes = data.notes;
  const indexOf = new Map(notes.map((note, index) => [note.id, index]));
  const work = notes.map((note) => ({ done: false, spans: note.spans.map(fromData) }));
  const history = [], unstored = new Set();
  let now = 0, chosen = -1, unsaved = false, target = null, timer = 0, late = 0, shown = "", trouble = "", lapsed = "", writing = Promise.resolve();

  function fromData([start, end, label, category, confidence, surrogate]) {
    return { start, end, label, category, confidence, surrogate, accepted: false };
  }

  // ---- code points and UTF-16 units

  const isWide = (text) => /[\ud800-\udfff]/.test(text);
  let measured = { text: "", starts: null };

  // The unit at which each code point of a text starts; null if both numbers are equal. Only the last text is kept: files
  // are written and read note by note. Without it, the time for a note would grow with its length times its spans.
  function startsOf(text) {
    if (measured.text !== text) {
      const starts = isWide(text) ? [0] : null;
      if (starts) for (const character of text) starts.push(starts[starts.length - 1] + character.length);
      measured = { text, starts };
    }
    return measured.starts;
  }

  function toUnits(text, point) {
    const starts = startsOf(text);
    return starts ? starts[point] : point;
  }

  function toPoints(text, unit) {
    const starts = startsOf(text);
    if (!starts) return unit;
    let low = 0, high = starts.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (starts[middle] < unit) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  const whole = (text, unit) => {
    const inPair = unit > 0 && unit < text.length && /[\udc00-\udfff]/.test(text[unit]) && /[\ud800-\udbff]/.test(text[unit - 1]);
    return inPair ? unit - 1 : unit;
  };
  const isLetter = (text, unit) => LETTER.test(String.fromCodePoint(text.codePointAt(whole(text, unit))));
  const isInWord = (text, unit) => whole(text, unit) !== unit
    || unit > 0 && unit < text.length && isLetter(text, unit - 1) && isLetter(text, unit);

  // ---- changes: each is one step of undo, also over many notes

  function change(indices, edit) {
    const step = [];
    for (const index of indices) {
      const old = work[index];
      const copy = { done: old.done, spans: old.spans.map((span) => ({ ...span })) };
      edit(copy, index);
      if (JSON.stringify(copy) === JSON.stringify(old)) continue;
      copy.spans.sort((a, b) => a.start - b.start || a.end - b.end);
      step.push([index, old]);
      work[index] = copy;
    }
    if (step.length) history.push({ step, now, chosen });
    step.forEach(([index]) => remember(index));
    if (step.some(([index, old]) => old.done || work[index].done)) touched();
    return step.length;
  }

  function undo() {
    const last = history.pop();
    if (!last) return say("There is nothing to undo.");
    for (const [index, old] of last.step) {
      work[index] = old;
      remember(index);
    }
    touched();
    ({ now, chosen } = last);
    showAll();
    say("Undone.");
  }

  function touched() {
    unsaved = true;
    if (!target) return;
    clearTimeout(timer);
    timer = setTimeout(writeNext, 500);
  }

  // ---- storage of the browser: offsets and labels, never text of a note

  const autosaved = `sklearn-deid-autosave ${data.key}`;
  const slot = (index) => `sklearn-deid ${data.key} ${index}`;

  function remember(index) {
    const { done, spans } = work[index];
    const rows = spans.map((span) => [span.start, span.end, span.label, span.accepted, span.category]);
    try {
      localStorage.setItem(slot(index), JSON.stringify({ done, spans: rows }));
      unstored.delete(index);
    } catch {
      unstored.add(index);
      trouble = "The browser cannot store your work. Save the file often.";
      say("");
      forget(index);
    }
  }

  // After a reload, the older work of a note would be in the page, and in the file, as finished.
  function forget(index) {
    try {
      localStorage.removeItem(slot(index));
    } catch {
      // A browser without storage has stored nothing.
    }
  }

  function recall(index) {
    try {
      const saved = JSON.parse(localStorage.getItem(slot(index)));
      if (!saved) return;
      const spans = saved.spans.map(([start, end, label, accepted, category]) => ({ ...made(start, end, label, index, category), accepted }));
      work[index] = { done: saved.done, spans };
    } catch {
      trouble = "The work of an earlier session cannot be read from the browser. Open the saved file.";
    }
  }

  function made(start, end, label, index, category) {
    // A label of another page, such as one of another model: the choice of labels would be empty at such a span.
    if (!categoryOf.has(label)) offer([label, typeof category === "string" ? category : null]);
    const known = notes[index].spans.map(fromData).find((span) => span.start === start && span.end === end);
    const same = known && known.label === label;
    return same ? known : { start, end, label, category: categoryOf.get(label) || null, confidence: null, surrogate: null, accepted: true };
  }

  // ---- files: JSON lines of finished notes

  function lines() {
    return notes.flatMap((note, index) => (work[index].done ? [line(note, work[index].spans)] : [])).join("");
  }

  function line(note, spans) {
    const record = { doc_id: note.id, text: note.text, spans: [] };
    for (const span of spans) {
      const start = toPoints(note.text, span.start), end = toPoints(note.text, span.end);
      const row = { start, end, label: span.label, text: note.text.slice(span.start, span.end) };
      if (span.category) row.category = span.category;
      record.spans.push(row);
    }
    if (note.patient !== null) record.patient_id = note.patient;
    const row = JSON.stringify(record), whole = note.meta ? `${row.slice(0, -1)},"meta":${note.meta}}` : row;
    // Some programs take these characters for the end of a line.
    return whole.replace(/[\u0085\u2028\u2029]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0")) + "\n";
  }

  function save() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([lines()], { type: "application/x-ndjson" }));
    link.download = data.file;
    link.click();
    // Not at once: some browsers read the address only after this function has ended.
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    unsaved = false;
    // The page does not learn the name that the browser has given to the file.
    say(`${finished()} finished notes are written to the folder of downloads, as ${data.file}. If a file of this name was there, `
      + `the new file has a number in its name, such as ${data.file.replace(".", " (1).")}. Use the newest file.`);
  }

  async function chooseTarget() {
    try {
      target = await window.showSaveFilePicker({ suggestedName: data.file });
    } catch {
      return;  // the dialogue was closed
    }
    lapsed = "";
    try {
      localStorage.setItem(autosaved, "on");
    } catch {
      // A browser without storage has said so.
    }
    writeNext();
  }

  // One write after another: a slow write that ends last would leave the older work in the file.
  function writeNext() {
    writing = writing.then(writeTarget);
  }

  async function writeTarget() {
    try {
      const stream = await target.createWritable(), content = lines();
      await stream.write(content);
      await stream.close();
      unsaved = content !== lines();
      say(`${finished()} finished notes are in the file.`);
    } catch {
      say("The file cannot be written. Use Save file.", true);
    }
  }

  // A line without spans is no finished note: a file of raw notes would count as notes without PHI.
  function isFinished(record) {
    if (!record || !indexOf.has(record.doc_id) || !Array.isArray(record.spans)) return false;
    const text = notes[indexOf.get(record.doc_id)].text, points = [...text];
    return text === record.text && record.spans.every((span) => span && typeof span.label === "string" && span.label
      && Number.isInteger(span.start) && Number.isInteger(span.end)
      && 0 <= span.start && span.start < span.end && span.end <= points.length
      && [undefined, points.slice(span.start, span.end).join("")].includes(span.text));
  }

  async function open(file) {
    let records = [];
    try {
      records = (await file.text()).split("\n").filter((row) => row.trim()).map((row) => JSON.parse(row));
    } catch {
      return say("This is no file of finished notes.", true);
    }
    // The output of `suggest` and `tag`: the page would save the spans of a model as read by a person.
    const annotated = records.filter((record) => record && Array.isArray(record.spans) && record.spans.length);
    const isPredicted = (record) => record.spans.length > 0 && record.spans.every((span) => span && typeof span.confidence === "number");
    if (annotated.length && annotated.every(isPredicted)) return say("All spans of this file have the confidence of a model: nobody has read its notes.", true);
    // Two readings of one note, as in the joined files of two readers: which of them holds?
    const times = new Map();
    for (const record of records) if (record) times.set(record.doc_id, (times.get(record.doc_id) || 0) + 1);
    const usable = records.filter((record) => isFinished(record) && !isPredicted(record) && times.get(record.doc_id) === 1);
    const found = new Map(usable.map((record) => [indexOf.get(record.doc_id), record]));
    let replaced = 0;
    change(found.keys(), (note, index) => {
      const text = notes[index].text, before = line(notes[index], note.spans);
      const wasDone = note.done;
      note.done = true;
      note.spans = found.get(index).spans.map((span) => made(toUnits(text, span.start), toUnits(text, span.end), span.label, index, span.category));
      replaced += wasDone && line(notes[index], note.spans) !== before;
    });
    showAll();
    const left = records.length - usable.length;
    // Files of other programs may hold raw notes with empty lists. Of a release, most notes have no leak.
    const isEmpty = data.mode === "review" && usable.length > 0 && !usable.some((record) => record.spans.length);
    say(`${usable.length} finished notes are read.`
      + (isEmpty ? " None of them has a span: if nobody has read them, undo takes all of them back." : "")
      + (replaced ? ` ${replaced} replace other work on finished notes. Undo takes all of them back.` : "")
      + (left ? ` ${left} are no finished notes of this page.` : ""), isEmpty || left + replaced > 0);
  }

  // ---- what is shown

  const finished = () => work.filter((note) => note.done).length;

  // What is wrong with the storage stays: the next step of the reader would otherwise replace it.
  function say(text, isWrong = false) {
    byId("status").textContent = [text, lapsed, trouble].filter(Boolean).join(" ");
    byId("status").className = isWrong || lapsed || trouble ? "wrong" : "";
  }

  function colour(span) {
    return "c" + (Math.max(0, categories.indexOf(span.category || categoryOf.get(span.label) || span.label)) % 10);
  }

  // Pieces of a text: [text, number of its span or -1]. Where spans overlap, the one that starts last is on top.
  function pieces(text, spans) {
    const cuts = [...new Set([0, text.length, ...spans.flatMap((span) => [span.start, span.end])])].sort((a, b) => a - b);
    const out = [];
    for (let i = 0, first = 0; i + 1 < cuts.length; i++) {
      let top = -1;
      while (first < spans.length && spans[first].end <= cuts[i]) first++;
      for (let n = first; n < spans.length && spans[n].start <= cuts[i]; n++) if (spans[n].end > cuts[i]) top = n;
      out.push([text.slice(cuts[i], cuts[i + 1]), top]);
    }
    return out;
  }

  function showNote() {
    const note = notes[now], { spans, done } = work[now];
    const borders = `${now} ${spans.map((span) => `${span.start}-${span.end}`).join()}`;
    // Long notes have hundreds of spans: their elements are made anew only if a border has changed.
    if (borders !== shown) byId("note").replaceChildren(...elements(note, spans));
    shown = borders;
    for (const mark of byId("note").querySelectorAll("mark")) paint(mark, spans[mark.dataset.span], Number(mark.dataset.span));
    byId("name").replaceChildren(isolated(note.id), done ? " (finished)" : "");
    if (chosen >= 0 && chosen < spans.length) byId("label").value = spans[chosen].label;
    clearTimeout(late);
    // The other side follows, so that a click is answered first.
    late = setTimeout(() => showAfter(note, spans), 30);
  }

  // A Hebrew or Arabic id would move the number behind it to the front.
  function isolated(id) {
    const element = document.createElement("bdi");
    element.textContent = id;
    return element;
  }

  function elements(note, spans) {
    let end = 0;
    return pieces(note.text, spans).flatMap(([text, number]) => {
      end += text.length;
      const parts = inLines(text, note.text[end]);
      if (number < 0) return parts;
      const mark = document.createElement("mark");
      mark.append(...parts);
      mark.dataset.span = number;
      return mark;
    });
  }

  // Nodes with exactly this text, in which all line ends look like line ends and "\r" is not displayed. With a displayed
  // "\r\n", a triple click on a line of Chromium selects the first letter of the next line, too.
  function inLines(text, next) {
    return text.split(/([\r\v\f\u0085\u2028\u2029])/).flatMap((part, at, parts) => {
      if (at % 2 === 0) return part ? [part] : [];
      const end = document.createElement("span");
      end.hidden = true;
      end.append(part);
      const follows = parts[at + 1] || (at + 2 < parts.length ? "" : next) || "";
      return part === "\r" && follows.startsWith("\n") ? [end] : [end, document.createElement("br")];
    });
  }

  function paint(mark, span, number) {
    const title = span.confidence === null ? span.label : `${span.label}, confidence ${span.confidence.toFixed(2)}`;
    const isUnsure = span.confidence !== null && span.confidence < UNSURE;
    const state = (span.accepted ? " accepted" : isUnsure ? " unsure" : "") + (number === chosen ? " now" : "");
    const look = colour(span) + state;
    if (mark.className !== look) mark.className = look;
    if (mark.title !== title) mark.title = title;
    if (mark.dataset.label !== span.label) mark.dataset.label = span.label;
  }

  function showAfter(note, spans) {
    const parts = document.createDocumentFragment(), invented = byId("view").value === "surrogate";
    let position = 0;
    const replaced = joined(spans, note.text);
    for (const span of invented ? withZones(replaced, note, spans) : replaced) {
      parts.append(...inLines(note.text.slice(position, span.start)));
      const put = document.createElement("span");
      put.className = "put";
      put.textContent = invented && span.surrogate !== null ? span.surrogate : `[${span.label}]`;
      parts.append(put);
      position = span.end;
    }
    parts.append(...inLines(note.text.slice(position)));
    byId("after").replaceChildren(parts);
  }

  // Surrogates also replace the time zones beside the dates of a note, which have no spans. Without a date, zones stay.
  function withZones(replaced, note, spans) {
    const labels = new Set(spans.map((span) => span.label));
    const zones = note.zones.map(([start, end, label, surrogate]) => ({ start, end, label, surrogate }));
    const free = zones.filter((zone) => labels.has(zone.label) && !replaced.some((span) => span.start < zone.end && span.end > zone.start));
    return [...replaced, ...free].sort((a, b) => a.start - b.start);
  }

  // Spans that overlap or touch become one, with the label of the longest, as in redaction.
  function joined(spans, text) {
    const out = [], points = ({ start, end }) => [...text.slice(start, end)].length;
    let longest = null;
    for (const span of spans) {
      const last = out[out.length - 1];
      if (!last || span.start > last.end) {
        out.push({ ...span });
        longest = span;
        continue;
      }
      const leading = points(span) > points(longest) ? span : last;
      if (leading === span) longest = span;
      out[out.length - 1] = { ...leading, start: last.start, end: Math.max(last.end, span.end), surrogate: null };
    }
    return out;
  }

  // The list holds only the rows that are in view.
  function showRows() {
    const box = byId("list"), first = Math.max(0, Math.floor(box.scrollTop / ROW) - 5);
    const hadFocus = byId("rows").contains(document.activeElement);
    const stop = Math.min(notes.length, first + Math.ceil((box.clientHeight || 600) / ROW) + 10);
    const rows = document.createDocumentFragment();
    for (let index = first; index < stop; index++) {
      const row = document.createElement("button");
      row.dataset.note = index;
      row.title = notes[index].id; // a long id is cut
      // Tab stops at one row only: at the last row in view the list scrolls, new rows lose the focus, and Tab starts again.
      row.tabIndex = index === now ? 0 : -1;
      row.append(work[index].done ? "\u2713 " : "", isolated(notes[index].id), ` (${work[index].spans.length})`);
      row.className = (work[index].done ? "done" : "") + (index === now ? " now" : "");
      rows.append(row);
    }
    byId("space").style.height = `${notes.length * ROW}px`;
    byId("rows").style.top = `${first * ROW}px`;
    byId("rows").replaceChildren(rows);
    if (hadFocus) byId("rows").querySelector(".now")?.focus({ preventScroll: true });
  }

  function showAll() {
    showNote();
    showRows();
    byId("progress").max = Math.max(1, notes.length);
    byId("progress").value = finished();
    byId("counts").textContent = `${finished()} of ${notes.length} notes finished`;
  }

  function goTo(index) {
    if (index < 0 || index >= notes.length) return;
    now = index;
    chosen = work[now].spans.length ? 0 : -1;
    const box = byId("list"), top = now * ROW;
    if (top < box.scrollTop || top > box.scrollTop + box.clientHeight - ROW) box.scrollTop = Math.max(0, top - 3 * ROW);
    byId("note").scrollTop = 0;
    say("");
    showAll();
  }

  function choose(number) {
    if (!work[now].spans.length) return;
    chosen = (number + work[now].spans.length) % work[now].spans.length;
    showNote();
    const mark = byId("note").querySelector("mark.now");
    if (mark) mark.scrollIntoView({ block: "nearest" });
  }

  // ---- edits

  function selection() {
    const picked = getSelection(), box = byId("note");
    if (!picked.rangeCount || picked.isCollapsed || !box.contains(picked.anchorNode) || !box.contains(picked.focusNode)) return null;
    const range = picked.getRangeAt(0), before = document.createRange(), text = notes[now].text;
    before.selectNodeContents(box);
    before.setEnd(range.startContainer, range.startOffset);
    // The length of the nodes and not of what is displayed: line breaks stay as they are in the note.
    const length = (part) => part.cloneContents().textContent.length;
    let start = length(before), end = start + length(range);
    while (start < end && /\s/.test(text[start])) start++;
    while (end > start && /\s/.test(text[end - 1])) end--;
    if (end < text.length && whole(text, end) !== end) end++;
    return end > start ? [whole(text, start), end] : null;
  }

  function mark() {
    const picked = selection();
    if (!picked) return say("Select text in the note first.");
    const [start, end] = picked, old = work[now].spans.find((span) => span.start < end && span.end > start);
    const label = old ? old.label : byId("label").value;
    change([now], (note) => {
      note.spans = note.spans.filter((span) => span.start >= end || span.end <= start);
      note.spans.push(made(start, end, label, now));
    });
    getSelection().removeAllRanges();
    chosen = work[now].spans.findIndex((span) => span.start === start && span.end === end);
    showAll();
    say(old ? "The borders are corrected." : "A span is added.");
  }

  function withChosen(edit) {
    if (chosen < 0 || chosen >= work[now].spans.length) return say("Choose a span first.");
    edit(work[now].spans[chosen]);
  }

  const accept = () => withChosen(() => {
    change([now], (note) => { note.spans[chosen].accepted = true; });
    choose(chosen + 1);
  });

  const remove = () => withChosen(() => {
    change([now], (note) => { note.spans.splice(chosen, 1); });
    chosen = Math.min(chosen, work[now].spans.length - 1);
    showAll();
  });

  const relabel = (label) => withChosen((span) => {
    const isOther = label !== span.label;
    change([now], (note) => { note.spans[chosen] = made(span.start, span.end, label, now); });
    showAll();
    // The chosen span may be out of view, and the reader may have chosen the label for text to select next.
    if (isOther) say("The label of the chosen span is changed. For another span, select its text first.");
  });

  function moveBorder(border, step, byCharacter) {
    withChosen((span) => {
      const text = notes[now].text;
      let place = span[border] + step;
      if (!byCharacter) {
        while (isInWord(text, place)) place += step;
      } else if (whole(text, place) !== place) place += step;
      const [start, end] = border === "start" ? [place, span.end] : [span.start, place];
      if (start < 0 || end > text.length || start >= end) return;
      if (work[now].spans.some((other) => other !== span && other.start < end && other.end > start)) return say("Another span is there.");
      change([now], (note) => { note.spans[chosen] = { ...made(start, end, span.label, now), accepted: true }; });
      showAll();
    });
  }

  // Where the same text is, and whether it is a whole word: "Ann" is not marked inside "Anna".
  function occurrences(text, word) {
    const found = [];
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
      const end = at + word.length;
      found.push([at, end, !isInWord(text, at) && !isInWord(text, end)]);
    }
    return found;
  }

  function everywhere(indices, isRemoval) {
    withChosen((span) => {
      const word = notes[now].text.slice(span.start, span.end), label = span.label;
      let count = 0, inside = 0;
      change(indices, (note, index) => {
        const text = notes[index].text;
        const others = note.spans.filter((other) => text.slice(other.start, other.end) !== word);
        if (isRemoval) {
          count += note.spans.length - others.length;
          note.spans = others;
          return;
        }
        for (const [start, end, isWhole] of occurrences(text, word)) {
          if (note.spans.some((other) => other.start <= start && other.end >= end)) continue;
          if (!isWhole) {
            inside++;
            continue;
          }
          // A span of a part of the text, such as a surname, would leave the rest unmarked.
          note.spans = note.spans.filter((other) => other.start < start || other.end > end);
          note.spans.push(made(start, end, label, index));
          count++;
        }
      });
      chosen = work[now].spans.findIndex((other) => other.start === span.start && other.end === span.end);
      showAll();
      // Words of Chinese have no spaces between them, and "Birchs" is a name, too: the reader decides.
      say((count ? `${count} spans are ${isRemoval ? "removed" : "added"}. Undo takes all of them back.` : "This text is marked already.")
        + (inside ? ` Inside of longer words, this text stays unmarked ${inside} times.` : ""));
    });
  }

  function finish() {
    change([now], (note) => {
      note.done = true;
      note.spans.forEach((span) => { span.accepted = true; });
    });
    const order = [...notes.keys()], next = [...order.slice(now + 1), ...order.slice(0, now)].find((index) => !work[index].done);
    if (next === undefined) {
      showAll();
      return say("All notes are finished. Save the file.");
    }
    goTo(next);
  }

  // ---- events

  const all = () => notes.keys();
  const actions = {
    mark, accept, remove, undo, finish, save, autosave: chooseTarget,
    "mark-note": () => everywhere([now], false), "mark-all": () => everywhere(all(), false),
    "remove-note": () => everywhere([now], true), "remove-all": () => everywhere(all(), true),
    "help-button": () => byId("help").showModal(), "help-close": () => byId("help").close(),
  };
  for (const [id, action] of Object.entries(actions)) {
    byId(id).addEventListener("click", (event) => {
      // The second click of a double click would finish the next note, which nobody has read.
      if (id !== "finish" || event.detail < 2) action();
      byId("note").focus({ preventScroll: true });
    });
    // A click on a button would otherwise take the selection from the note.
    byId(id).addEventListener("mousedown", (event) => event.preventDefault());
  }
  byId("list").addEventListener("scroll", showRows);
  byId("rows").addEventListener("click", (event) => {
    const row = event.target.closest("button");
    if (!row) return;
    goTo(Number(row.dataset.note));
    byId("note").focus({ preventScroll: true });
  });
  byId("note").addEventListener("click", (event) => {
    const span = event.target.closest("mark")?.dataset.span;
    if (span !== undefined && getSelection().isCollapsed) choose(Number(span));
  });
  // With selected text, the label is the one of the next span: the chosen span may be far away.
  function pick(label) {
    byId("label").value = label;
    if (chosen >= 0 && !selection()) relabel(label);
  }
  // After a choice with the mouse, the keys of the page work. Keys choose in a list letter by letter: with the focus in the
  // note, the letters of "FAX" behind the first one would move the border of a span and remove the span.
  function onChoice(list, act) {
    let byKeys = false, isChanged = false;
    const leave = () => {
      isChanged = false;
      byId("note").focus({ preventScroll: true });
    };
    list.addEventListener("pointerdown", () => { byKeys = false; });
    list.addEventListener("keydown", (event) => {
      byKeys = true;
      // Enter on a closed list would open it.
      if (event.key === "Enter" && isChanged) {
        event.preventDefault();
        leave();
      } else if (event.key === " " || event.key === "F4" || event.altKey) isChanged = false; // opens the list
    });
    // Enter in an open list makes a choice.
    list.addEventListener("keyup", ({ key }) => {
      if (key === "Escape" || key === "Enter" && isChanged) leave();
    });
    list.addEventListener("change", () => {
      act(list.value);
      isChanged = true;
      if (!byKeys) leave();
    });
  }
  onChoice(byId("label"), pick);
  onChoice(byId("view"), showNote);
  byId("open").addEventListener("change", (event) => {
    if (event.target.files[0]) open(event.target.files[0]);
    event.target.value = "";
    byId("note").focus({ preventScroll: true });
  });
  addEventListener("beforeunload", (event) => {
    // Work on an unfinished note is in no file: without storage, only this tab has it.
    if (unsaved || [...unstored].some((index) => !work[index].done)) event.preventDefault();
  });

  // Another tab with this page has changed a note: the file of this tab would hold the older work.
  addEventListener("storage", ({ key, newValue }) => {
    const prefix = slot("");
    if (!key || !key.startsWith(prefix)) return;
    const index = Number(key.slice(prefix.length));
    recall(index);
    if (newValue === null) {
      work[index] = { ...work[index], done: false };
      trouble = "The browser cannot store the work of another tab. Finish these notes in one tab, and save the file often.";
    }
    // Undo of these steps would take the work of the other tab away.
    history.splice(0, 1 + history.findLastIndex(({ step }) => step.some(([other]) => other === index)));
    touched();
    chosen = Math.min(chosen, work[now].spans.length - 1);
    showAll();
    if (trouble) say("");
  });

  const keys = {
    arrowleft: () => choose(chosen - 1), arrowright: () => choose(chosen + 1), enter: accept, m: mark, u: undo, "?": actions["help-button"],
    delete: remove, n: () => goTo(now + 1), b: () => goTo(now - 1),
  };
  addEventListener("keydown", (event) => {
    const key = event.key.toLowerCase();
    if (byId("help").open || event.target.tagName === "SELECT" || event.target.tagName === "INPUT") return;
    if (event.ctrlKey || event.metaKey) {
      // Ctrl+Shift+Z is "redo" elsewhere: a second undo would take away more.
      if (key !== "enter" && (key !== "z" || event.shiftKey)) return;
      event.preventDefault();
      if (key === "enter" && event.repeat) return;
      return key === "enter" ? finish() : undo();
    }
    // Shift with an arrow extends the selection of the browser.
    if (event.altKey || (key === "enter" && event.target.tagName === "BUTTON") || (event.shiftKey && key.startsWith("arrow"))) return;
    // A key that is held repeats: it would remove all spans, or finish notes that nobody has read.
    if (event.repeat && ["x", "delete", "enter", "m", "e"].includes(key)) return event.preventDefault();
    const border = { a: ["start", -1], s: ["start", 1], d: ["end", -1], f: ["end", 1] }[key];
    if (border) moveBorder(...border, event.shiftKey);
    else if (key === "e") everywhere(event.shiftKey ? all() : [now], false);
    else if (key === "x") event.shiftKey ? everywhere(all(), true) : remove();
    else if (/^[1-9]$/.test(key) && data.labels[key - 1]) pick(data.labels[key - 1][0]);
    else if (keys[key]) keys[key]();
    else return;
    event.preventDefault();
  });

  // A label that the reader can choose.
  function offer([label, category]) {
    if (!data.labels.some(([known]) => known === label)) data.labels.push([label, category]);
    categoryOf.set(label, category);
    if (!categories.includes(category || label)) categories.push(category || label);
    const option = document.createElement("option");
    option.value = option.textContent = label;
    byId("label").append(option);
  }

  // ---- start

  data.labels.forEach(offer);
  if (notes.some((note) => note.spans.some((span) => span[5] !== null))) {
    const option = document.createElement("option");
    option.value = "surrogate";
    option.textContent = "surrogates";
    byId("view").append(option);
  }
  byId("autosave").hidden = !window.showSaveFilePicker;
  for (const index of notes.keys()) recall(index);
  // A page has a file only until it is loaded again. The reader would rely on a file that nothing writes.
  try {
    if (localStorage.getItem(autosaved)) lapsed = "Autosave has ended, because the page was loaded again. Choose the file again.";
  } catch {
    // The loop above has said so.
  }
  if (notes.length) goTo(Math.max(0, work.findIndex((note) => !note.done)));
})();
