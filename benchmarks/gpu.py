"""Training and tagging on a GPU: tokens per second, share of the CRF, transfers to the host.

    python -m benchmarks.gpu

Generated sentences of the lengths of clinical notes; nothing is downloaded. Prints one JSON object. Without a CUDA
device it runs on the CPU and says so.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
import torch
from torch.profiler import ProfilerActivity, profile, record_function
from torchcrf import CRF

from sklearn_deid import DeidTagger
from sklearn_deid.tagging import LinearChainCRF

from .environment import describe


def make_data(n: int, seed: int) -> tuple[list, list]:
    """Sentences of log-normal lengths (median 11, as in MEDDOCAN) with tags of 29 labels."""
    rng = np.random.default_rng(seed)
    lengths = np.clip(rng.lognormal(2.4, 0.9, n).astype(int), 1, 400)
    words = np.array([f"word{i}" for i in range(20_000)])
    tags = np.array(["O"] * 200 + [f"B-LABEL{i}" for i in range(29)])
    return [words[rng.integers(0, len(words), k)].tolist() for k in lengths], [
        tags[rng.integers(0, len(tags), k)].tolist() for k in lengths
    ]


def synchronised(device: torch.device) -> float:
    if device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def crf_times(device: torch.device, batch: int, length: int, n_tags: int = 59, repeats: int = 20) -> dict:
    """Milliseconds of loss with gradient and of decoding, beside pytorch-crf unmodified."""
    mask = torch.ones(batch, length, dtype=torch.bool, device=device)
    tags = torch.randint(0, n_tags, (batch, length), device=device)
    out = {}
    for name, crf in (("ours", LinearChainCRF(n_tags)), ("pytorch_crf", CRF(n_tags, batch_first=True))):
        crf.to(device)
        emissions = torch.randn(batch, length, n_tags, device=device, requires_grad=True)
        for kind, call in (
            ("loss_and_gradient_ms", lambda c=crf, e=emissions: c(e, tags, mask).backward()),
            ("decode_ms", lambda c=crf, e=emissions: c.decode(e.detach(), mask)),
        ):
            call()
            start = synchronised(device)
            for _ in range(repeats):
                call()
            out[f"{name}_{kind}"] = round((synchronised(device) - start) / repeats * 1e3, 3)
    return {"batch": batch, "length": length, "n_tags": n_tags, **out}


def profile_step(tagger: DeidTagger, X: list, y: list) -> dict:
    """Share of the CRF in an epoch, and copies from the device to the host for each batch."""
    original = LinearChainCRF.forward

    def marked(self, *args, **kwargs):
        with record_function("crf"):
            return original(self, *args, **kwargs)

    LinearChainCRF.forward = marked
    activities = [ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * torch.cuda.is_available()
    try:
        with profile(activities=activities) as prof:
            tagger.partial_fit(X, y)
    finally:
        LinearChainCRF.forward = original
    events = prof.key_averages()
    total = sum(e.self_device_time_total if torch.cuda.is_available() else e.self_cpu_time_total for e in events)
    crf = next(e for e in events if e.key == "crf")
    crf_time = crf.device_time_total if torch.cuda.is_available() else crf.cpu_time_total
    copies = sum(e.count for e in events if "Memcpy DtoH" in e.key)
    return {
        "crf_forward_share": round(crf_time / total, 3),
        "host_transfers_per_step": round(copies / tagger.n_training_batches_, 2),
    }


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=20_000)
    parser.add_argument("--batch-size", type=int, default=4096, help="padded tokens of a training batch")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    X, y = make_data(arguments.sentences, arguments.seed)
    n_tokens = sum(map(len, X))
    settings = {"batch_size": arguments.batch_size, "embeddings": None, "random_state": arguments.seed}
    tagger = DeidTagger(**settings).partial_fit(X, y)  # also warms up
    start = synchronised(device)
    tagger.partial_fit(X, y)
    trained = synchronised(device) - start
    tagger.predict(X[:1000])
    start = synchronised(device)
    tagger.predict(X)
    tagged = synchronised(device) - start
    result = {
        "benchmark": "gpu",
        "device": str(device),
        "n_tokens": n_tokens,
        "settings": settings,
        "training_tokens_per_second": round(n_tokens / trained),
        "tagging_tokens_per_second": round(n_tokens / tagged),
        **profile_step(tagger, X[:4000], y[:4000]),
        "crf": [crf_times(device, 64, length) for length in (20, 100, 400)],
        **describe(),
    }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
