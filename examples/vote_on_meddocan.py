"""Taggers that read a sentence at a time, and taggers that read the whole note, vote on MEDDOCAN.

    python examples/vote_on_meddocan.py DATA --members 6 --jobs 2 --model my-model

DATA is the folder that contains ``meddocan/``; without DATA, SKLEARN_DEID_DATA names it. The members have different
random seeds, and every other member reads the document around a sentence: members that differ only in the seed make the
same mistakes. All other settings are the defaults. Training on the whole training split takes four to seven minutes on
one core for each member. The official counts score the development split. Each job needs about 1.5 GB of memory.
"""

import argparse
import os
from itertools import cycle

from sklearn_deid import DeidTagger, NoteDeidentifier, VotingTagger, deid_report, fetch_meddocan, save


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="?", default=os.environ.get("SKLEARN_DEID_DATA"), help="folder with meddocan/")
    parser.add_argument("--members", type=int, default=6, help="taggers that vote")
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
    members = [
        (f"{context}{seed}", DeidTagger(context=context, random_state=seed))
        for seed, context in zip(seeds, cycle(["sentence", "document"]), strict=False)
    ]
    voting = VotingTagger(members, n_jobs=arguments.jobs)
    sentences = train.to_sentences()
    voting.fit(sentences.X, sentences.y, groups=sentences.groups)

    target = gold.to_sentences()
    print(deid_report(gold, target.to_documents(voting.predict(target.X))))
    if arguments.model:
        save(NoteDeidentifier(voting), arguments.model)


if __name__ == "__main__":
    main()
