"""Figures of pages that docs/results holds are those of docs/results."""

import json
import re

import pytest

from .pages import ROOT

# Rows of the table of planted faults, in order: the faults of a row.
PLANTED = """
replay module_generator
forgotten_noise
silent_layer
half_noise bound_of_more_noise
shared_noise noise_in_other_dimensions
coarse_grid noise_cut_off
late_tokens rare_words long_words_with_less_noise first_sentences some_calls
copies_drawn_anew unrounded bits_of_words signed_zeros
order_kept order_by_digest order_of_a_seed
order_of_classes
numbers_in_order order_of_patients labels_of_words labels_of_patients
notes_in_manifest blanks_in_manifest file_times
seeded_release
tokens_put_back
names_in_low_bits signed_zeros_of_a_perturber
names_elsewhere
words_of_a_label long_words
casing
renamed_attribute
"""


def figures(name):
    return json.loads((ROOT / "docs" / "results" / f"{name}.json").read_text(encoding="utf-8"))


def prose(page):
    return re.sub(r"\s+", " ", (ROOT / "docs" / page).read_text(encoding="utf-8"))


def planted_rows():
    """Last cells of the table of planted faults: the CPU seconds."""
    page = (ROOT / "docs" / "auditing.md").read_text(encoding="utf-8")
    table = page.split("| planted fault | named by | CPU seconds |\n|---|---|---|\n")[1].split("\n\n")[0]
    return [line.strip("| ").split(" | ")[-1] for line in table.splitlines()]


def test_cpu_seconds_of_planted_faults():
    seconds = {run["arm"]: run["cpu_seconds"] for run in figures("planted_faults")["results"] if run["named"]}
    arms = [row.split() for row in PLANTED.split("\n") if row]
    assert sorted(sum(arms, [])) == sorted(seconds)
    shown = ["; ".join(f"{seconds[arm]:.{int(seconds[arm] < 1)}f}" for arm in row) for row in arms]
    assert planted_rows() == shown


@pytest.mark.parametrize("measure", ["as_the_api", "withheld_as_by_the_api", "peak_memory_mib", "date"])
def test_fuzzed_notes(measure):
    (text,) = re.findall(r"`python -m benchmarks\.fuzzed_notes` damages .*? MiB", prose("how_to/redact_safely.md"))
    value = figures("fuzzed_notes")[measure]
    assert (value if isinstance(value, str) else f"{value:,}") in text
