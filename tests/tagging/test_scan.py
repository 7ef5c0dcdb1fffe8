"""The tree form against the step-by-step form."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_deid.tagging import (
    LegalTags,
    LinearChainCRF,
    log_partition_by_scan,
    log_partition_by_steps,
    viterbi_by_scan,
)

from .test_crf import make_case, plain_crf

CASES = st.tuples(st.integers(0, 10_000), st.integers(1, 5), st.integers(1, 20), st.integers(1, 5))


def parameters(crf, mask):
    return crf.transitions, crf.start_transitions, crf.end_transitions, mask


@settings(max_examples=60, deadline=None)
@given(CASES, st.sampled_from([1.0, 20.0]))
def test_partition_and_gradients(case, scale):
    crf, emissions, _, mask = make_case(*case, scale=scale, dtype=torch.float64)
    results = []
    for algorithm in (log_partition_by_scan, log_partition_by_steps):
        leaf = emissions.clone().requires_grad_()
        crf.zero_grad()
        log_z = algorithm(leaf, *parameters(crf, mask))
        log_z.sum().backward()
        grads = [torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in (leaf, *crf.parameters())]
        results.append([log_z, *grads])
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, atol=1e-9, rtol=1e-9)


# BIOES of one label, in the order O, B, I, E, S: "B" reaches nothing but "I" and "E".
FOLLOW = [[1, 1, 0, 0, 1], [0, 0, 1, 1, 0], [0, 0, 1, 1, 0], [1, 1, 0, 0, 1], [1, 1, 0, 0, 1]]
BIOES = LegalTags(*(torch.tensor(x) > 0 for x in ([1, 1, 0, 0, 1], FOLLOW, [1, 0, 0, 1, 1])))


@settings(max_examples=60, deadline=None)
@given(CASES, st.sampled_from([1.0, 30.0, 100.0]))
def test_tags_that_force_the_next_ones_have_finite_gradients(case, scale):
    seed, batch, time, _ = case
    crf, emissions, _, mask = make_case(seed, batch, time, 5, scale=1.0)
    legal = LinearChainCRF(5, BIOES)
    legal.load_state_dict(crf.state_dict())
    results = []
    for algorithm, dtype in ((log_partition_by_scan, torch.float32), (log_partition_by_steps, torch.float64)):
        leaf = (emissions * scale).to(dtype).requires_grad_()
        log_z = algorithm(leaf, *(p.to(dtype) for p in legal.scores()), mask)
        log_z.sum().backward()
        results.append([log_z.double(), leaf.grad.double()])
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-5)


@settings(max_examples=60, deadline=None)
@given(CASES)
def test_paths(case):
    crf, emissions, _, mask = make_case(*case, dtype=torch.float64)
    paths = viterbi_by_scan(emissions, *parameters(crf, mask)).tolist()
    expected = plain_crf(crf).decode(emissions, mask)
    assert [path[: len(e)] for path, e in zip(paths, expected, strict=True)] == expected


def test_bad_rows_keep_their_precision_beside_good_ones():
    # From tag 1 every path is e^-300 less likely than from tag 0, and tag 1 is where the chain must start.
    crf, emissions, _, mask = make_case(0, 1, 9, 3, dtype=torch.float32)
    with torch.no_grad():
        crf.transitions[1] -= 300.0
        crf.start_transitions.copy_(torch.tensor([-1e4, 0.0, -1e4]))
    args = (emissions, *parameters(crf, mask))
    torch.testing.assert_close(log_partition_by_scan(*args), log_partition_by_steps(*args))
