"""Gaussian noise with learned standard deviations, which cannot fall below a floor.

The noise is the only protection of the text from which a representation is made. Therefore the noise is on in training
and when representations are released; the layer has no train and test mode. ``apply=False`` switches the noise off for
a single call. The result without noise is the representation that an attacker who has the network can compute
(templates, bounds).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

_KINDS = ("trainable", "fixed", "none")
_PAPER_SPREAD = 0.05  # standard deviation of the starting weights in the paper's code


class GaussianNoise(nn.Module):
    """Add noise with its own standard deviation for each dimension, drawn anew for each token and each call.

    ``out = x + std * eps`` with ``eps ~ N(0, 1)`` and ``std = floor + |w|``, where w is one weight per dimension. The
    derivative of the output by std is eps, so the noise can be learned together with the other weights.

    With the tagger's loss alone, the noise shrinks to almost nothing, and the gradient of an adversary at chance does
    not prevent this shrinking. Three settings keep the noise large. They are a floor, a large initial value (0.3 to 0.8
    for features of about unit scale), and a separate learning rate, about ten times the rate of the other weights
    (`noise_parameters` returns the optimizer group).

    Parameters
    ----------
    size : int
        Number of dimensions d.
    kind : {"trainable", "fixed", "none"}, default="trainable"
        "trainable" learns w. "fixed" has the same initial weights w, but does not learn w. "none" returns its input and
        has no w.
    init : float or "normal", default=0.3
        Initial value of each w, in units of the features, not negative. A w of exactly 0 has no gradient and stays 0.
        "normal" draws w from N(0, 0.05), as in the paper's code.
    floor : float, default=0.0
        Smallest standard deviation, not negative. The floor is saved with the weights. A reloaded layer therefore adds
        as much noise as the saved layer, for any floor that you pass to the constructor.

    Raises
    ------
    ValueError
        If a parameter has a value that is not allowed, or if a floor is set with kind="none".

    Notes
    -----
    The paper's code has no floor. The paper's code has a second trainable factor k for all dimensions, so ``std = |k
    w|``. This layer leaves out k, since k only changes the step sizes of training, not the possible noise. Signs of w
    do not matter, since eps is symmetric.

    This layer draws from PyTorch's generators, which are not cryptographic, so its noise is for training only.
    `PrivateRepresenter.transform` draws the noise of released vectors on the host, under a key of 256 bits.

    References
    ----------
    Friedrich et al. (2019), section 5.2, equation 1.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.representations import GaussianNoise
    >>> noise = GaussianNoise(3, init=0.5, floor=0.25)
    >>> noise.std().tolist()
    [0.75, 0.75, 0.75]
    >>> x, _ = torch.zeros(2, 4, 3), torch.manual_seed(0)
    >>> bool((noise(x) == noise(x)).any()), bool((noise(x, apply=False) == x).all())
    (False, True)
    """

    floor: Tensor
    weight: Tensor

    def __init__(self, size: int, *, kind: str = "trainable", init: float | str = 0.3, floor: float = 0.0) -> None:
        super().__init__()
        if kind not in _KINDS:
            raise ValueError(f"The 'kind' parameter must be trainable, fixed or none. Got {kind!r}.")
        if not 0.0 <= floor < math.inf:
            raise ValueError(f"The 'floor' parameter must be a number that is not negative. Got {floor!r}.")
        if kind == "none" and floor > 0.0:
            raise ValueError(f"A floor of {floor!r} needs noise: the 'kind' parameter must be trainable or fixed.")
        self.size, self.kind = size, kind
        noisy = kind != "none"
        # A buffer, so that the floor is saved with the weights; a layer without noise saves nothing.
        self.register_buffer("floor", torch.tensor(float(floor)), persistent=noisy)
        weight = torch.zeros(size)
        if kind == "trainable":
            self.weight = nn.Parameter(weight)
        else:
            self.register_buffer("weight", weight, persistent=noisy)
        if noisy:
            self.restart(init)

    @torch.no_grad()
    def restart(self, init: float | str) -> None:
        """Set the weights to an initial value again, for example after a training phase that shrank the weights.

        Parameters
        ----------
        init : float or "normal"
            Initial value of each w, as in the constructor.
        """
        if self.kind == "none":
            raise ValueError("There is no noise to restart: the 'kind' parameter is none.")
        if init == "normal":
            self.weight.normal_(0.0, _PAPER_SPREAD)
        elif isinstance(init, str) or not 0.0 <= init < math.inf:
            raise ValueError(f"The 'init' parameter must be a number that is not negative, or normal. Got {init!r}.")
        else:
            self.weight.fill_(init)

    @torch.no_grad()
    def scale(self, factor: float) -> None:
        """Multiply every standard deviation and the floor by a factor.

        Parameters
        ----------
        factor : float
            Positive factor.
        """
        if not 0.0 < factor < math.inf:
            raise ValueError(f"The 'factor' parameter must be a positive number. Got {factor!r}.")
        self.floor *= factor
        self.weight *= factor

    def std(self) -> Tensor:
        """Return the standard deviation of each dimension, shape (size,), with its gradient; zeros without noise."""
        # The absolute value instead of an exponential: near 0 an exponential changes ever more slowly, so that noise
        # that has shrunk could hardly grow again. The sign of the weight has no meaning.
        return self.floor + self.weight.abs()

    def draw(self, x: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Draw standard normal numbers in the shape of x, for the ``eps`` of `forward`."""
        return torch.randn(x.shape, generator=generator, device=x.device, dtype=x.dtype)

    def forward(
        self,
        x: Tensor,
        *,
        apply: bool = True,
        generator: torch.Generator | None = None,
        eps: Tensor | None = None,
    ) -> Tensor:
        """Add noise to a tensor, in training and afterwards.

        Parameters
        ----------
        x : Tensor of shape (batch, time, size)
            Features.
        apply : bool, default=True
            Whether noise is added. False returns x unchanged.
        generator : torch.Generator, optional
            Random stream on the device of x; by default PyTorch's global generator.
        eps : Tensor of the shape of x, optional
            Standard normal numbers from an earlier call of `draw`, so that two inputs can share their noise.
        """
        if not apply or self.kind == "none":
            return x
        # shape: (batch, time, size), where std of shape (size,) is broadcast over sentences and tokens
        return x + self.std() * (self.draw(x, generator) if eps is None else eps)
