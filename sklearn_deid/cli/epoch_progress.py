"""The progress of a training on standard error. Imports skorch: import it only where a command runs."""

from __future__ import annotations

import sys
from typing import Any

from skorch import NeuralNet
from skorch.callbacks import Callback
from tqdm import tqdm

__all__ = ["EpochProgress"]


class EpochProgress(Callback):
    """A progress bar over the epochs, or a line for each of them.

    Parameters
    ----------
    lines : bool, default=False
        Lines, which stay readable in a log file.
    """

    def __init__(self, lines: bool = False) -> None:
        self.lines = lines

    def on_train_begin(self, net: NeuralNet, X: Any = None, y: Any = None, **kwargs: Any) -> None:
        total = dict(net.callbacks_)["lr_decay"].n_epochs  # what max_epochs="auto" has come to
        self.bar_ = tqdm(total=total, desc="training", unit=" epochs", disable=self.lines, file=sys.stderr)

    def on_epoch_end(self, net: NeuralNet, **kwargs: Any) -> None:
        row = net.history[-1]
        if self.lines:
            of = f"epoch {row['epoch']} of {self.bar_.total}"
            print(f"{of}: loss {row['train_loss']:.3f}, {row['dur']:.1f} s", file=sys.stderr)
        else:
            self.bar_.set_postfix_str(f"loss {row['train_loss']:.3f}", refresh=False)
            self.bar_.update()

    def on_train_end(self, net: NeuralNet, X: Any = None, y: Any = None, **kwargs: Any) -> None:
        self.bar_.close()
        del self.bar_  # an open stream must not travel with the tagger
