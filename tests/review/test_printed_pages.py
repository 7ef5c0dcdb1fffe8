"""On paper nobody can scroll: each page that the library writes fits on a portrait sheet of A4."""

from pathlib import Path

import pytest

from sklearn_deid import Document, Span
from sklearn_deid.audit import AttackResult, AuditReport
from sklearn_deid.metrics import Estimate
from sklearn_deid.review import SignOff, record_html, write_review_page

SITE = Path(__file__).parents[2] / "docs" / "_static" / "site.css"
WIDTH = 718  # pixels between the margins of a sheet of A4 that a browser prints


def write_audit(path):
    """The widest cells: long names, intervals with decimals, both controls, and a status in capitals."""
    few = Estimate(0.9985, 0.9911, 0.9999, 1_234_567)
    attack = AttackResult(
        *("lookup among sentences that differ by one token by likelihood, noise-free template", "representation"),
        *("A recipient.", "share of sentences whose original is ranked first among the candidates", few, few),
        positive_control=few,
        min_positive_control=0.999,
        negative_control=few,
        errors=("A control failed.",),
    )
    AuditReport((attack,), n_sentences=3, n_patients=3).save(path)


def write_record(path):
    read = [Document("n1", "[DOCTOR]")]
    record = {"result": SignOff(1).assess(read).to_dict(), "provenance": {"digest": "ab" * 32}}
    path.write_text(record_html(record), encoding="utf-8")


def write_review(path):
    write_review_page(path, [Document("n" * 90, "Ann " + "x" * 300, (Span(0, 3, "PATIENT"),))], {})


def write_wide_table(path):
    """A table of the documentation with eight columns, in the theme of the site. The theme hides what does not fit."""
    theme = pytest.importorskip("pydata_sphinx_theme")
    root = Path(theme.__file__).parent / "theme" / "pydata_sphinx_theme" / "static" / "styles"
    styles = [root / "theme.css", root / "pydata-sphinx-theme.css", SITE]
    links = "".join(f'<link rel="stylesheet" href="{style.as_uri()}">' for style in styles if style.exists())
    row = "<tr>" + "<td>0.98 (0.97, 0.99)</td>" * 4 + "<td>deduplication</td>" * 4 + "</tr>"
    table = f'<div class="pst-scrollable-table-container"><table class="table">{row}</table></div>'
    path.write_text(f'{links}<article class="bd-article-container">{table}</article>', encoding="utf-8")


@pytest.mark.parametrize("write", [write_audit, write_record, write_review, write_wide_table])
def test_page_fits_on_paper(page, tmp_path, write):
    write(tmp_path / "page.html")
    size = {"width": WIDTH, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        page.open(tmp_path / "page.html")
        script = """
        const shown = [...document.querySelectorAll('body, body *')].filter((one) => one.getClientRects().length);
        return Math.max(...shown.map((one) => one.getBoundingClientRect().right));
        """
        assert page.driver.execute_script(script) <= WIDTH
    finally:
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
