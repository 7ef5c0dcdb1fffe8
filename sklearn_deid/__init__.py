"""De-identification of clinical text with scikit-learn estimators that you train on your own data.

Public names are resolved on first use (PEP 562). Importing the package loads neither torch nor spaCy.
"""

from __future__ import annotations

from ._lazy import lazy_names

__version__ = "0.2.0"

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "text": "Corpus Document Span",
        "io": "read_corpus write_corpus",
        "datasets": "fetch_meddocan make_clinical_notes",
        "embeddings": "WordVectors",
        "metrics": "deid_report utility_report",
        "tagging": (
            "DeidTagger HybridTagger LabelLineTagger NoteDeidentifier NotePriorTagger PretrainedEncoder "
            "RecallTunedTagger RuleTagger TemperatureScaledTagger VotingTagger WordBiasTagger load_model"
        ),
        "sequences": "TokenSequences",
        "federated": "DSSGDEnsemble",
        "pseudonyms": (
            "CusTextPseudonymizer GaussianNoisePerturber MadlibPseudonymizer NeighborPseudonymizer "
            "RandomVectorPerturber SanTextPseudonymizer SurrogatePseudonymizer ZeroVectorPerturber"
        ),
        "representations": "PrivateRepresenter load_representation pool_representations save_representation",
        "audit": "AdversarialPrivacyAuditor",
        "saving": "load save",
    },
)
