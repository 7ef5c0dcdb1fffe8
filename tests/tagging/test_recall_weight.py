"""The factor of the loss against counts by hand, and what it may not change."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_deid.tagging import BidirectionalRecurrent, RecallWeight, TaggerModule

TAGS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.booleans()), min_size=1, max_size=8)


@settings(max_examples=80, deadline=None)
@given(st.lists(TAGS, min_size=1, max_size=4), st.sampled_from([1.0, 2.0, 10.0]))
def test_forms_by_hand(rows, weight):
    time = max(map(len, rows))
    gold, predicted, mask = (torch.zeros(len(rows), time, dtype=d) for d in (torch.long, torch.long, torch.bool))
    rates, fn, tp = [], 0, 0
    for i, row in enumerate(rows):
        gold[i, : len(row)], predicted[i, : len(row)], mask[i, : len(row)] = map(torch.tensor, zip(*row, strict=True))
        misses = sum(g > 0 and p == 0 for g, p, on in row if on)
        hits = sum(g > 0 and p > 0 for g, p, on in row if on)
        rates.append(misses / (1 + misses + hits))
        fn, tp = fn + misses, tp + hits
    rate = fn / (1 + fn + tp)
    for form, expected in {
        "batch": 1 + (weight - 1) * rate,
        "printed": rate * ((weight - 1) + 1),
        "repaired": [1 + (weight - 1) * r for r in rates],
    }.items():
        factor = RecallWeight(weight, form).factor(predicted, gold, mask)
        torch.testing.assert_close(factor, torch.tensor(expected, dtype=torch.float32))


@pytest.fixture(params=["crf", "softmax"])
def case(request):
    torch.manual_seed(0)
    module = TaggerModule(3, None, BidirectionalRecurrent(4, 2), head=request.param)
    mask = torch.arange(6) < torch.tensor([6, 3])[:, None]
    return module, torch.randn(2, 6, 3), torch.randint(0, 3, (2, 6)), mask


def test_loss_is_the_plain_one_times_the_factor(case):
    module, emissions, tags, mask = case
    plain = module.loss(emissions, tags, mask)
    torch.testing.assert_close(module.loss(emissions, tags, mask, recall=RecallWeight(1.0)), plain)
    for form in ("batch", "printed"):
        recall = RecallWeight(7.0, form)
        factor = recall.factor(module.best_tags(emissions, mask), tags, mask)
        torch.testing.assert_close(module.loss(emissions, tags, mask, recall=recall), plain * factor)
    alone = [
        module.loss(emissions[i : i + 1], tags[i : i + 1], mask[i : i + 1], recall=RecallWeight(7.0)) for i in (0, 1)
    ]
    by_sentence = module.loss(emissions, tags, mask, recall=RecallWeight(7.0))
    torch.testing.assert_close(by_sentence, torch.stack(alone).mean())


def test_tag_weights_stay(case):
    module, emissions, tags, mask = case
    weights = torch.tensor([1.0, 2.0, 3.0])
    plain = module.loss(emissions, tags, mask, weights)
    torch.testing.assert_close(module.loss(emissions, tags, mask, weights, RecallWeight(1.0)), plain)
