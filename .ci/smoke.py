"""What must work right after an installation: ``smoke.py NAME`` fails, or says that NAME works."""

import subprocess
import sys
from importlib.metadata import entry_points, version
from pathlib import Path

import sklearn_deid
from sklearn_deid import NoteDeidentifier, RuleTagger, make_clinical_notes

home = Path(sklearn_deid.__file__).parent
assert "site-packages" in home.parts, f"this is not the installed package: {home}"
assert sklearn_deid.__version__ == version("sklearn-deid")

notes = make_clinical_notes(4, random_state=0)  # reads templates and lists of words that are part of the package
assert notes.n_spans > 20
deidentifier = NoteDeidentifier(RuleTagger()).fit(notes)
written = "Call 555-201-3344 on 2024-05-03 or write to j.doe@hospital.example."
redacted = "Call [PHONE] on [DATE] or write to [EMAIL]."
assert deidentifier.redact([written]) == [redacted]

program = Path(sys.executable).with_name("sklearn-deid")
answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
assert answer == f"sklearn-deid {sklearn_deid.__version__}\n"
assert "sklearn_deid" in {point.name for point in entry_points(group="spacy_factories")}
print(f"sklearn-deid {sklearn_deid.__version__} works, installed from the {sys.argv[1]}")
