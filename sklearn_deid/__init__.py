"""De-identification of clinical text in the grammar of scikit-learn.

Public names are resolved on first use (PEP 562): importing the package loads neither torch nor spaCy.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.2.0"

# Where each public name lives; a name that is not listed here is not part of the API.
_HOME = {
    "Corpus": "text",
    "Document": "text",
    "Span": "text",
    "read_corpus": "io",
    "write_corpus": "io",
    "make_clinical_notes": "datasets",
    "fetch_meddocan": "datasets",
    "WordVectors": "embeddings",
    "deid_report": "metrics",
    "utility_report": "metrics",
    "DeidTagger": "tagging",
    "PretrainedEncoder": "tagging",
    "TokenSequences": "sequences",
    "DSSGDEnsemble": "federated",
    "RuleTagger": "tagging",
    "RecallTunedTagger": "tagging",
    "TemperatureScaledTagger": "tagging",
    "HybridTagger": "tagging",
    "VotingTagger": "tagging",
    "NoteDeidentifier": "tagging",
    "NeighborPseudonymizer": "pseudonyms",
    "PrivateRepresenter": "representations",
    "AdversarialPrivacyAuditor": "audit",
    "MadlibPseudonymizer": "pseudonyms",
    "SanTextPseudonymizer": "pseudonyms",
    "CusTextPseudonymizer": "pseudonyms",
    "GaussianNoisePerturber": "pseudonyms",
    "RandomVectorPerturber": "pseudonyms",
    "ZeroVectorPerturber": "pseudonyms",
    "save": "saving",
    "load": "saving",
    "save_representation": "representations",
    "load_representation": "representations",
    "pool_representations": "representations",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
