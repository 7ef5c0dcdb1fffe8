"""The CRF against pytorch-crf and against the enumeration of all tag sequences."""

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torchcrf import CRF

from sklearn_deid.tagging import (
    LegalTags,
    LinearChainCRF,
    log_partition,
    log_partition_by_scan,
    log_partition_by_steps,
    viterbi_by_scan,
)
from sklearn_deid.tagging.crf_steps import TimeOrder, stays_at_first
from sklearn_deid.tagging.network import legal_tags


def make_case(seed, batch, time, n_tags, scale=1.0, dtype=torch.float32):
    generator = torch.Generator().manual_seed(seed)
    crf = LinearChainCRF(n_tags).to(dtype)
    with torch.no_grad():
        for p in crf.parameters():
            p.copy_(torch.randn(p.shape, generator=generator, dtype=dtype) * scale)
    emissions = torch.randn(batch, time, n_tags, generator=generator, dtype=dtype) * scale
    lengths = torch.randint(1, time + 1, (batch,), generator=generator)
    mask = torch.arange(time) < lengths[:, None]
    tags = torch.randint(0, n_tags, (batch, time), generator=generator)
    return crf, emissions, tags, mask


def plain_crf(crf):
    plain = CRF(crf.num_tags, batch_first=True).to(crf.transitions.dtype)
    plain.load_state_dict(crf.state_dict())
    return plain


def loss_and_gradients(crf, emissions, tags, mask, reduction):
    leaf = emissions.clone().requires_grad_()
    loss = -crf(leaf, tags, mask, reduction=reduction)
    loss.sum().backward()
    # In batches of one-token sentences pytorch-crf never touches its transitions: no gradient is a zero gradient.
    return loss, [torch.zeros_like(p) if p.grad is None else p.grad for p in (leaf, *crf.parameters())]


CASES = st.tuples(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 9), st.integers(1, 7))


class TestAgainstPytorchCRF:
    @settings(max_examples=60, deadline=None)
    @given(CASES, st.sampled_from(["none", "sum", "mean", "token_mean"]))
    def test_loss_and_gradients(self, case, reduction):
        crf, emissions, tags, mask = make_case(*case)
        ours, our_grads = loss_and_gradients(crf, emissions, tags, mask, reduction)
        theirs, their_grads = loss_and_gradients(plain_crf(crf), emissions, tags, mask, reduction)
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
        for a, b in zip(our_grads, their_grads, strict=True):
            torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-5)

    @settings(max_examples=60, deadline=None)
    @given(CASES)
    def test_paths(self, case):
        crf, emissions, _, mask = make_case(*case)
        assert crf.decode(emissions, mask) == plain_crf(crf).decode(emissions, mask)

    @pytest.mark.parametrize("more", [0.0, 1.0, 3.0, 6.0, 12.0])
    def test_paths_of_several_batches_of_which_most_tags_are_the_first(self, more):
        crf, *_ = make_case(0, 1, 1, 5)
        batches = []
        for seed, (batch, time) in enumerate([(40, 6), (1, 9), (30, 3)]):
            _, emissions, _, mask = make_case(seed, batch, time, 5)
            emissions[:, :, 0] += more
            batches.append((emissions, mask))
        expected = [plain_crf(crf).decode(*one) for one in batches]
        assert crf.decode_all(batches) == expected
        sure = [stays_at_first(emissions, *crf.scores(), mask).tolist() for emissions, mask in batches]
        stay = [[not any(path) for path in paths] for paths in expected]
        assert all(not a or b for one, other in zip(sure, stay, strict=True) for a, b in zip(one, other, strict=True))
        assert more < 12 or all(map(all, sure))

    # Above 512 sentences, a step takes a part of them at a time.
    @pytest.mark.parametrize(("prefixes", "n"), [("BI", 90), ("BEIS", 90), ("BI", 650)])
    def test_paths_of_many_sentences_and_legal_tags(self, prefixes, n):
        scheme = "iob2" if prefixes == "BI" else "bioes"
        classes = np.array(["O", *(f"{p}-{k:02}" for k in range(52 // len(prefixes)) for p in prefixes)])
        generator = torch.Generator().manual_seed(0)
        crf = LinearChainCRF(len(classes), legal_tags(classes, scheme)).double()
        plain = CRF(len(classes), batch_first=True).double()
        with torch.no_grad():
            for p in crf.parameters():
                p.copy_(torch.randn(p.shape, generator=generator))
            for ours, theirs in zip(crf.scores(), ("transitions", "start_transitions", "end_transitions"), strict=True):
                getattr(plain, theirs).copy_(ours)
        emissions = torch.randn(n, 9, len(classes), generator=generator, dtype=torch.float64)
        mask = torch.arange(9) < torch.randint(1, 10, (n, 1), generator=generator)
        assert crf.decode(emissions, mask) == plain.decode(emissions, mask)

    def test_default_mask_and_reduction(self):
        crf, emissions, tags, _ = make_case(0, 3, 5, 4)
        everything = torch.ones(3, 5, dtype=torch.bool)  # its own default mask is uint8, which torch deprecates
        torch.testing.assert_close(crf(emissions, tags), plain_crf(crf)(emissions, tags, everything))
        assert crf.decode(emissions) == plain_crf(crf).decode(emissions, everything)

    def test_large_scores(self):
        crf, emissions, tags, mask = make_case(1, 4, 30, 5, scale=20.0, dtype=torch.float64)
        ours, our_grads = loss_and_gradients(crf, emissions, tags, mask, "sum")
        theirs, their_grads = loss_and_gradients(plain_crf(crf), emissions, tags, mask, "sum")
        torch.testing.assert_close(ours, theirs)
        for a, b in zip(our_grads, their_grads, strict=True):
            torch.testing.assert_close(a, b, atol=1e-9, rtol=1e-7)


class TestAgainstEnumeration:
    @staticmethod
    def scores(crf, emissions, n):
        start, end, step = crf.start_transitions, crf.end_transitions, crf.transitions
        for path in product(range(crf.num_tags), repeat=n):
            score = start[path[0]] + end[path[-1]] + sum(emissions[t, k] for t, k in enumerate(path))
            yield path, score + sum(step[a, b] for a, b in zip(path, path[1:], strict=False))

    @pytest.mark.parametrize("seed", range(5))
    def test_partition_marginals_and_path(self, seed):
        crf, emissions, _, mask = make_case(seed, 3, 4, 3, dtype=torch.float64)
        marginals, paths = crf.marginals(emissions, mask), crf.decode(emissions, mask)
        log_z = log_partition(emissions, crf.transitions, crf.start_transitions, crf.end_transitions, mask)
        for i, n in enumerate(mask.sum(1).tolist()):
            scored = list(self.scores(crf, emissions[i], n))
            total = torch.logsumexp(torch.stack([s for _, s in scored]), 0)
            torch.testing.assert_close(log_z[i], total)
            assert tuple(paths[i]) == max(scored, key=lambda item: item[1])[0]
            for t, k in product(range(n), range(3)):
                expected = sum((s - total).exp() for path, s in scored if path[t] == k)
                torch.testing.assert_close(marginals[i, t, k], expected)
            assert (marginals[i, n:] == 0).all()


class TestUnderflow:
    def test_forbidden_transitions_leave_the_scaled_form(self):
        # Every step but 0 -> 1 -> 0 is forbidden and the emissions prefer the opposite: scaled probabilities underflow.
        crf = LinearChainCRF(2)
        with torch.no_grad():
            crf.transitions.copy_(torch.tensor([[-1e4, 0.0], [0.0, -1e4]]))
            crf.start_transitions.copy_(torch.tensor([0.0, -1e4]))
            crf.end_transitions.zero_()
        emissions = torch.tensor([[[-200.0, 0.0], [0.0, -200.0], [-200.0, 0.0]]])
        mask = torch.ones(1, 3, dtype=torch.bool)
        args = (crf.transitions, crf.start_transitions, crf.end_transitions, mask)
        torch.testing.assert_close(log_partition(emissions, *args), log_partition_by_steps(emissions, *args))
        assert torch.isfinite(crf.marginals(emissions, mask)).all()
        assert crf.decode(emissions, mask) == [[0, 1, 0]]

    @pytest.mark.parametrize("far", [30.0, 60.0, 120.0])
    def test_sums_from_both_ends_that_hardly_meet_leave_the_scaled_form(self, far):
        # No tag changes; the start prefers tag 0 and the end tag 1, so that both paths are equally likely.
        transitions = torch.tensor([[0.0, -1e4], [-1e4, 0.0]])
        ends = torch.tensor([0.0, -far]), torch.tensor([-far, 0.0])
        mask = torch.ones(1, 3, dtype=torch.bool)
        results = []
        for algorithm in (log_partition, log_partition_by_steps):
            leaf = torch.zeros(1, 3, 2, requires_grad=True)
            log_z = algorithm(leaf, transitions, *ends, mask)
            log_z.sum().backward()
            results.append([log_z, leaf.grad])
        for a, b in zip(*results, strict=True):
            torch.testing.assert_close(a, b)
        torch.testing.assert_close(results[0][1], torch.full((1, 3, 2), 0.5))


def test_order_of_time():
    generator = torch.Generator().manual_seed(0)
    mask = torch.arange(7) < torch.randint(1, 7, (9,), generator=generator)[:, None]  # the last column is padding
    order = TimeOrder.of(mask)
    assert sorted(order.cells.tolist()) == mask.flatten().nonzero().flatten().tolist()
    length, step = mask.sum(1)[order.rows], order.cells % 7
    for t, part in enumerate(order.steps):
        assert (step[part] == t).all()
        assert (length[part].diff() <= 0).all()
    assert torch.equal(order.rows, order.cells // 7)
    assert torch.equal(order.rows[order.mirror], order.rows)
    assert torch.equal(step[order.mirror], length - 1 - step)
    assert torch.equal(order.cells[order.before], order.cells[order.batch :] - 1)


class TestInvariance:
    def test_padding_changes_nothing(self):
        crf, emissions, tags, mask = make_case(3, 5, 7, 4)
        padded = torch.cat([emissions, torch.full((5, 3, 4), 9.0)], 1)
        longer = torch.cat([mask, torch.zeros(5, 3, dtype=torch.bool)], 1)
        more_tags = torch.cat([tags, torch.zeros(5, 3, dtype=torch.long)], 1)
        torch.testing.assert_close(crf(emissions, tags, mask), crf(padded, more_tags, longer))
        assert crf.decode(emissions, mask) == crf.decode(padded, longer)

    def test_batch_is_the_sum_of_its_sentences(self):
        crf, emissions, tags, mask = make_case(4, 5, 7, 4)
        alone = [crf(emissions[i : i + 1], tags[i : i + 1], mask[i : i + 1]) for i in range(5)]
        torch.testing.assert_close(crf(emissions, tags, mask), torch.stack(alone).sum())

    def test_gradcheck(self):
        crf, emissions, _, mask = make_case(5, 3, 4, 3, dtype=torch.float64)
        inputs = [emissions, crf.transitions, crf.start_transitions, crf.end_transitions]
        leaves = [x.detach().clone().requires_grad_() for x in inputs]
        assert torch.autograd.gradcheck(lambda *a: log_partition(*a, mask), leaves)


class TestRefusals:
    def test_mask_with_a_hole(self):
        crf, emissions, tags, _ = make_case(0, 1, 3, 2)
        with pytest.raises(ValueError, match="padded on the right"):
            crf(emissions, tags, torch.tensor([[True, False, True]]))

    def test_empty_sentence(self):
        crf, emissions, tags, _ = make_case(0, 1, 3, 2)
        with pytest.raises(ValueError, match="at least one token"):
            crf.decode(emissions, torch.zeros(1, 3, dtype=torch.bool))

    def test_shapes(self):
        crf, emissions, tags, mask = make_case(0, 2, 3, 2)
        with pytest.raises(ValueError, match=r"shape \(batch, time, 2\)"):
            crf.decode(emissions[..., :1], mask)
        with pytest.raises(ValueError, match=r"mask must have shape \(2, 3\)"):
            crf.decode(emissions, mask[:1])

    def test_reduction(self):
        crf, emissions, tags, mask = make_case(0, 2, 3, 2)
        with pytest.raises(ValueError, match="'reduction'"):
            crf(emissions, tags, mask, reduction="max")


class TestLegalTags:
    """Against the enumeration of the sequences that are legal."""

    FOLLOW = torch.tensor([[1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0]], dtype=torch.bool)  # O B I E
    LEGAL = LegalTags(torch.tensor([True, True, False, False]), FOLLOW, torch.tensor([True, False, False, True]))

    def case(self, seed, scale=1.0):
        generator = torch.Generator().manual_seed(seed)
        crf = LinearChainCRF(4, self.LEGAL).double()
        with torch.no_grad():
            for p in crf.parameters():
                p.copy_(torch.randn(p.shape, generator=generator) * scale)
        emissions = torch.randn(6, 5, 4, generator=generator, dtype=torch.float64) * scale
        return crf, emissions, torch.arange(5) < torch.tensor([1, 2, 3, 4, 5, 5])[:, None]

    def legal_paths(self, crf, emissions, n):
        for path, score in TestAgainstEnumeration.scores(crf, emissions, n):
            inside = all(self.FOLLOW[a, b] for a, b in zip(path, path[1:], strict=False))
            if inside and self.LEGAL.start[path[0]] and self.LEGAL.end[path[-1]]:
                yield path, score

    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("scale", [1.0, 30.0])
    def test_enumeration(self, seed, scale):
        crf, emissions, mask = self.case(seed, scale)
        scores = crf.scores()
        by_scan = log_partition_by_scan(emissions, *scores, mask)
        by_steps = log_partition_by_steps(emissions, *scores, mask)
        tree = viterbi_by_scan(emissions, *crf.scores(never=-torch.inf), mask).tolist()
        paths, marginals = crf.decode(emissions, mask), crf.marginals(emissions, mask)
        likelihood = crf(emissions, torch.zeros(6, 5, dtype=torch.long), mask, reduction="none")  # all O: legal
        for i, n in enumerate(mask.sum(1).tolist()):
            scored = dict(self.legal_paths(crf, emissions[i], n))
            total = torch.logsumexp(torch.stack(list(scored.values())), 0)
            # shapes: (n_paths, n) and (n_paths, 1, 1)
            tags, shares = torch.tensor(list(scored)), (torch.stack(list(scored.values())) - total).exp()[:, None, None]
            torch.testing.assert_close(by_scan[i], total)
            torch.testing.assert_close(by_steps[i], total)
            torch.testing.assert_close(likelihood[i], scored[(0,) * n] - total)
            best = max(scored, key=scored.__getitem__)
            assert tuple(paths[i]) == best == tuple(tree[i][:n])
            expected = (shares * (tags[:, :, None] == torch.arange(4))).sum(0)
            torch.testing.assert_close(marginals[i, :n], expected.double())

    def test_what_is_not_legal_is_not_decoded_however_much_the_emissions_want_it(self):
        crf, emissions, mask = self.case(0)
        emissions[:, :, 2] = 1e6
        assert crf.decode(emissions, mask)[3:] == [[1, 2, 2, 3], [1, 2, 2, 2, 3], [1, 2, 2, 2, 3]]
        assert viterbi_by_scan(emissions, *crf.scores(-torch.inf), mask)[5].tolist() == [1, 2, 2, 2, 3]

    def test_forbidden_scores_get_no_gradient_and_are_not_saved(self):
        crf, emissions, mask = self.case(1)
        (-crf(emissions, torch.zeros(6, 5, dtype=torch.long), mask)).backward()
        assert (crf.transitions.grad[~self.FOLLOW] == 0).all()
        assert (crf.transitions.grad[self.FOLLOW] != 0).all()
        assert sorted(crf.state_dict()) == ["end_transitions", "start_transitions", "transitions"]
