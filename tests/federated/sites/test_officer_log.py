"""Lines for the officer of a site: what was sent, to whom, and what the server answered."""

import pytest

from sklearn_deid.exceptions import ExchangeError
from sklearn_deid.federated.sites import FederationConfig, SiteSettings
from sklearn_deid.federated.sites.officer_log import OfficerLog

SITES = ["a", "b", "c"]


def log_of(folder, lines, keys=(), **own):
    agreement = FederationConfig("lab", SITES, ["DATE"], n_epochs=9, mask_keys=dict(keys))
    return OfficerLog(folder, agreement, SiteSettings("/notes", str(folder), **own), 400, lines.append)


def test_bytes_and_answers_are_those_since_the_last_line(tmp_path):
    lines = []
    officer = log_of(tmp_path, lines, upload_fraction=0.25)
    ask = officer.watch(lambda fields, body=b"": ({"status": "ok"}, b""))
    officer.before("Promise.", 2)
    ask({"ask": "download"}, b"four")
    ask({"ask": "upload"}, b"12345")
    ask({"ask": "upload"}, b"678")
    officer.answers.append("round 2: added")
    officer.after("Promise.", 3)
    officer.after("Promise.", 3)
    what = "at most 25% of an update of 400 parameters, to the server of lab, which sees the update."
    assert lines == [
        f"before the epoch: Promise. To be sent: {what} Epochs so far: 2 of 9.",
        f"after the epoch: Promise. Sent: 8 bytes, {what} Answer of the server: round 2: added. Epochs so far: 3 of 9.",
        f"after the epoch: Promise. Sent: 0 bytes, {what} Answer of the server: none. Epochs so far: 3 of 9.",
    ]
    kept = (tmp_path / "officer.log").read_text().splitlines()
    assert [line.split(" UTC ")[1] for line in kept] == lines
    assert (tmp_path / "officer.log").stat().st_mode & 0o077 == 0


def test_bytes_count_if_nobody_answers(tmp_path):
    lines = []
    officer = log_of(tmp_path, lines)

    def silent(fields, body=b""):
        raise ExchangeError("The server does not answer.")

    with pytest.raises(ExchangeError):
        officer.watch(silent)({"ask": "upload"}, b"12345")
    officer.after("Promise.", 1)
    assert "Sent: 5 bytes" in lines[0]


def test_a_line_that_a_power_failure_cut_off_is_not_continued(tmp_path):
    """The next line, with its epsilon, began in the middle of the broken line."""
    (tmp_path / "officer.log").write_text("2026-11-24 12:56:45 UTC before the epo")
    log_of(tmp_path, []).before("Promise.", 0)
    broken, line = (tmp_path / "officer.log").read_text().splitlines()
    assert broken.endswith("before the epo") and " UTC before the epoch: Promise." in line


def test_masks_are_said(tmp_path):
    lines = []
    keys = [(site, str(number) * 64) for number, site in enumerate(SITES, 1)]
    log_of(tmp_path, lines, keys).before("Promise.", 0)
    assert "to the server of lab, masked, in a sum of 3 sites." in lines[0]


@pytest.mark.parametrize(("fraction", "told"), [(0.004, "0.4%"), (1.0, "100%"), (0.145, "14.5%")])
def test_the_part_is_not_rounded_down(tmp_path, fraction, told):
    lines = []
    log_of(tmp_path, lines, upload_fraction=fraction).before("Promise.", 0)
    assert f"at most {told} of an update" in lines[0]
