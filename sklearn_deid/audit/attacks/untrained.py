"""`UntrainedAttack`: base class of attacks that learn nothing before the release."""

from __future__ import annotations

from typing import Any, TypeVar

from .declaration import AuditAttack

_Attack = TypeVar("_Attack", bound="UntrainedAttack")


class UntrainedAttack(AuditAttack):
    """Attack whose ``fit`` only stores the attacker's knowledge. The class of the attack specifies the type of this
    knowledge."""

    def fit(self: _Attack, knowledge: Any = None) -> _Attack:
        """Store the attacker's knowledge.

        Parameters
        ----------
        knowledge : object, default=None
            Object of the type that the class of the attack specifies; None for an attacker who needs no knowledge.
        """
        self._knowledge = knowledge
        return self
