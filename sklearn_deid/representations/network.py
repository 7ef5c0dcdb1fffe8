"""Network from embeddings to a private representation: noise, network, projection, noise, unit length."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..tagging.encoders import BidirectionalRecurrent
from .noise import GaussianNoise


class _TokenwiseDense(nn.Module):
    """Dense layers with ReLU, as wide as their input; each token is processed separately."""

    def __init__(self, size: int, n_layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(size, size) for _ in range(n_layers))

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        for layer in self.layers:
            # shape: (batch, time, size), in every layer: a token never sees its neighbours, so that `worst_case` can
            # enumerate words one by one
            x = torch.relu(layer(x))
        return x


class Representer(nn.Module):
    """Noisy vectors in place of tokens: ``R = unit(N_out + W f(E + N_in) + b)``.

    f is a bidirectional LSTM or a stack of dense layers. E are the embeddings. The noises N_in and N_out are drawn anew
    for each token, dimension and call, in training and afterwards. ``unit`` divides each token's vector by its length.
    With an LSTM, the vector of a token depends on the whole sentence. With dense layers, the vector of a token depends
    on this token alone, so a replaced token changes no other vector.

    Parameters
    ----------
    input_size : int
        Width of the embeddings E.
    n_components : int
        d, width of the representation; the paper tries 50, 100 and 300.
    kind : {"lstm", "dense"}, default="lstm"
        Network f: a bidirectional LSTM, or dense layers.
    hidden_size : int, default=128
        Units of each direction of the LSTM. Dense layers are as wide as the input.
    n_layers : int, optional
        Number of layers of f; by default 1 for "lstm" and 2 for "dense".
    input_noise, output_noise : GaussianNoise, optional
        Noise layers of ``input_size`` and ``n_components`` dimensions; by default `GaussianNoise` with its default
        parameters. Pass a layer of kind "none" for no noise.
    unit_norm : bool, default=True
        Whether each token's vector is scaled to length 1 after the noise. `mean` and `output_std` describe the vectors
        before scaling.

    Raises
    ------
    ValueError
        If the kind is unknown, or if a noise layer has another number of dimensions.

    Notes
    -----
    The paper's code has a projection and the scaling to unit length; equation 1 of the paper has neither. The
    projection makes d independent of the LSTM's width. In the paper's code, padding reaches the adversaries as random
    unit vectors. In this library, padded positions influence nothing and are zero in the result.

    References
    ----------
    Friedrich et al. (2019), section 5.2, equation 1.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.representations import Representer
    >>> representer = Representer(4, 3, hidden_size=5)
    >>> x, mask = torch.randn(2, 3, 4), torch.tensor([[True, True, True], [True, False, False]])
    >>> r = representer(x, mask)
    >>> r.shape, [round(n, 3) for n in r.norm(dim=2)[1].tolist()]
    (torch.Size([2, 3, 3]), [1.0, 0.0, 0.0])
    """

    def __init__(
        self,
        input_size: int,
        n_components: int,
        *,
        kind: str = "lstm",
        hidden_size: int = 128,
        n_layers: int | None = None,
        input_noise: GaussianNoise | None = None,
        output_noise: GaussianNoise | None = None,
        unit_norm: bool = True,
    ) -> None:
        super().__init__()
        self.body: nn.Module
        if kind == "lstm":
            self.body = body = BidirectionalRecurrent(input_size, hidden_size, n_layers or 1)
            width = body.output_size
        elif kind == "dense":
            self.body, width = _TokenwiseDense(input_size, n_layers or 2), input_size
        else:
            raise ValueError(f"The 'kind' parameter must be lstm or dense. Got {kind!r}.")
        self.project = nn.Linear(width, n_components)
        self.input_noise = _checked("input_noise", input_noise, input_size)
        self.output_noise = _checked("output_noise", output_noise, n_components)
        self.unit_norm = unit_norm
        self.float()  # whatever the default type of torch

    def forward(
        self,
        x: Tensor,
        mask: Tensor,
        *,
        noise: bool = True,
        generator: torch.Generator | None = None,
        input_eps: Tensor | None = None,
    ) -> Tensor:
        """Compute the representation, shape (batch, time, d); zero at padded positions.

        Parameters
        ----------
        x : Tensor of shape (batch, time, input_size)
            Embeddings.
        mask : BoolTensor of shape (batch, time)
            True at tokens; padding is on the right.
        noise : bool, default=True
            Whether input noise and output noise are added. With False, the result is the representation that an
            attacker who has the network can compute.
        generator : torch.Generator, optional
            Random stream on the device of x; by default PyTorch's global generator.
        input_eps : Tensor of the shape of x, optional
            Draw of the input noise (``input_noise.draw``).
        """
        # shape: (batch, time, d)
        mu = self.mean(x, mask, noise=noise, generator=generator, input_eps=input_eps)
        return self.release(mu, mask, noise=noise, generator=generator)

    def mean(
        self,
        x: Tensor,
        mask: Tensor,
        *,
        noise: bool = True,
        generator: torch.Generator | None = None,
        input_eps: Tensor | None = None,
    ) -> Tensor:
        """Compute the mean of the representation given its input noise, before output noise and unit length.

        The bound on attacks needs equal input noise for both sentences of a pair, so pass one ``input_eps`` for both
        sentences. Parameters and shapes are the same as in `forward`; ``noise=False`` leaves out the input noise.
        """
        # Infinite or undefined values at padded positions would make gradients NaN, even with a weight of zero.
        x = x.masked_fill(~mask.unsqueeze(2), 0.0)
        x = self.input_noise(x, apply=noise, generator=generator, eps=input_eps)
        hidden = self.body(x, mask.sum(1))  # shape: (batch, time, width)
        return self.project(hidden).masked_fill(~mask.unsqueeze(2), 0.0)

    def release(
        self, mu: Tensor, mask: Tensor, *, noise: bool = True, generator: torch.Generator | None = None
    ) -> Tensor:
        """Add output noise to the mean, then scale to unit length; shapes as in `forward`."""
        r = self.output_noise(mu, apply=noise, generator=generator)
        # The length is scaled after the noise: what is computed from noisy vectors alone cannot lower the privacy
        # (post-processing).
        if self.unit_norm:
            r = F.normalize(r, dim=2)
        return r.masked_fill(~mask.unsqueeze(2), 0.0)

    def output_std(self) -> Tensor:
        """Return the standard deviation of the output noise, shape (d,), with its gradient."""
        return self.output_noise.std()


def _checked(name: str, noise: GaussianNoise | None, size: int) -> GaussianNoise:
    if noise is None:
        return GaussianNoise(size)
    if noise.size != size:
        raise ValueError(f"The '{name}' parameter must have {size} dimensions. Got {noise.size}.")
    return noise
