"""Several taggers of different seeds vote on MEDDOCAN, which gives a little more than one of them.

    python examples/vote_on_meddocan.py DATA --members 5 --jobs 2 --model my-model

DATA is the folder that holds ``meddocan/`` (or is given by SKLEARN_DEID_DATA). Each tagger has the default settings and
is trained on the whole training split, about four minutes on one core; the development split is scored as the official
scripts do. Memory: about 1.5 GB for each of the jobs.
"""

import argparse
import os

from sklearn_deid import DeidTagger, NoteDeidentifier, VotingTagger, deid_report, fetch_meddocan, save_model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="?", default=os.environ.get("SKLEARN_DEID_DATA"), help="folder with meddocan/")
    parser.add_argument("--members", type=int, default=5, help="taggers that vote")
    parser.add_argument("--jobs", type=int, default=2, help="taggers trained at the same time")
    parser.add_argument("--seed", type=int, default=0, help="of the first tagger; the others have the next ones")
    parser.add_argument("--model", help="folder to save the taggers to")
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("name the folder that holds meddocan/, or set SKLEARN_DEID_DATA")
    train, gold = (
        fetch_meddocan(split, data_home=arguments.data, download_if_missing=False) for split in ("train", "dev")
    )
    seeds = range(arguments.seed, arguments.seed + arguments.members)
    voting = VotingTagger([(f"seed{seed}", DeidTagger(random_state=seed)) for seed in seeds], n_jobs=arguments.jobs)
    sentences = train.to_sentences()
    voting.fit(sentences.X, sentences.y, groups=sentences.groups)

    target = gold.to_sentences()
    print(deid_report(gold, target.to_documents(voting.predict(target.X))))
    if arguments.model:
        save_model(NoteDeidentifier(voting), arguments.model)


if __name__ == "__main__":
    main()
