"""The MEDDOCAN corpus: 1,000 Spanish clinical cases with invented PHI."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from .._parameters import check_parameter
from ..exceptions import DataNotFoundError
from ..io import iter_documents
from ..text import Corpus
from .releases import Part, Release, install

_COMMIT = "783a6df385c975b328c99bcffb54196a9ba4078a"
_DIGESTS = {
    "train": "0f43c5d70e62b766c022fad9fde6845b8e0eef19997b6191b4037c43a49e4cb8",
    "dev": "c4ea794b045698269ee4be4632825ec9ae5f784e935a5891621ab411e163a694",
    "test": None,  # not known to us; see the notes of fetch_meddocan
}
_N_FILES = {"train": 1000, "dev": 500, "test": 500}  # a .txt and an .ann for each case
_RELEASE = Release(
    url=f"https://github.com/PlanTL-GOB-ES/SPACCC_MEDDOCAN/archive/{_COMMIT}.zip",
    parts=tuple(
        Part(f"corpus/{subset}/brat", f"meddocan/{subset}/brat", _N_FILES[subset], digest)
        for subset, digest in _DIGESTS.items()
    ),
)
_ENVIRONMENT = "SKLEARN_DEID_DATA"


def fetch_meddocan(
    subset: str = "train", data_home: str | os.PathLike[str] | None = None, download_if_missing: bool = True
) -> Corpus:
    """Load the MEDDOCAN corpus. The function downloads the corpus if necessary.

    Use MEDDOCAN for benchmarks against published results. MEDDOCAN is the corpus of the IberLEF 2019 task on
    de-identification. The cases of the corpus are real Spanish cases from the literature with invented PHI.

    Parameters
    ----------
    subset : {"train", "dev", "test"}, default="train"
        Split of the task. The splits hold 500, 250 and 250 cases.
    data_home : path-like, default=None
        Folder that holds ``meddocan/<subset>/brat``, or receives the download. With None, the folder in the environment
        variable ``SKLEARN_DEID_DATA`` is used, or ``~/sklearn_deid_data`` if the variable is not set.
    download_if_missing : bool, default=True
        Whether to download the archive if the split is missing. The archive holds all three splits.

    Returns
    -------
    Corpus
        Cases with labels of the MEDDOCAN scheme and their categories. The corpus contains no patient ids. Each case is
        about a different patient, so ``patient_id`` is the document id.

    Raises
    ------
    DataNotFoundError
        If the split is missing and the download is not allowed or fails. The message states how to proceed.
    CorpusFormatError
        If the archive or a file does not have the expected content or format.

    Notes
    -----
    The whole download is checked before any file is stored. The files of ``train`` and ``dev`` must have the SHA-256
    digests that this library contains. For ``test``, this library contains no digest and checks only the number of
    files. The split ``test`` is in the same archive of the same commit as the other two splits. Files that are already
    in the folder are read without these checks.

    The corpus is licensed under CC BY 4.0; copyright (c) 2019 Secretaria de Estado para el Avance Digital (SEAD).

    References
    ----------
    Marimon et al. (2019), "Automatic De-identification of Medical Texts in Spanish: the MEDDOCAN Track, Corpus,
    Guidelines, Methods and Evaluation of Results", IberLEF 2019.

    Examples
    --------
    >>> from sklearn_deid.datasets import fetch_meddocan
    >>> corpus = fetch_meddocan("dev")  # doctest: +SKIP
    >>> len(corpus)  # doctest: +SKIP
    250
    """
    check_parameter("fetch_meddocan", "subset", subset, subset in _DIGESTS, "'train', 'dev' or 'test'")
    # A copy on the disk is used without any connection to the network.
    home = _find_home(data_home)
    folder = home / "meddocan" / subset / "brat"
    if not folder.is_dir():
        if not download_if_missing:
            raise DataNotFoundError(
                f"The {subset} split of MEDDOCAN is not on this machine. {_advice()}", path=str(folder)
            )
        # All subsets are in one archive, so that they are installed together.
        try:
            install(_RELEASE, home)
        except DataNotFoundError as error:
            raise DataNotFoundError(f"{error.message} {_advice()}", path=str(folder)) from error
    # Splits and cross-validation group by patient, so every case needs a patient id.
    documents = iter_documents(folder, format="brat", label_scheme="meddocan")
    return Corpus(replace(document, patient_id=document.patient_id or document.doc_id) for document in documents)


def _find_home(data_home: str | os.PathLike[str] | None) -> Path:
    chosen = data_home if data_home is not None else os.environ.get(_ENVIRONMENT) or "~/sklearn_deid_data"
    return Path(chosen).expanduser()


def _advice() -> str:
    return (
        f"Unpack {_RELEASE.url} on a machine with network access, copy its folder 'corpus' here as 'meddocan' below "
        f"some folder, and name that folder by data_home or by the environment variable {_ENVIRONMENT}; or call "
        "fetch_meddocan with download_if_missing=True where there is network access."
    )
