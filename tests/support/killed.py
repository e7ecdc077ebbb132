"""A training run that is killed while it scores its learner."""

import pytest

from muse.sentences.training.trainer import HeldOutScore, Learner


def killed_at(monkeypatch: pytest.MonkeyPatch, learner: type[Learner], call: int) -> None:
    """From now on, the score of this class raises KeyboardInterrupt at this call, and at no other."""
    held_out, calls = learner.held_out, 0

    def killed(self: Learner) -> HeldOutScore:
        nonlocal calls
        calls += 1
        if calls == call:
            raise KeyboardInterrupt
        return held_out(self)

    monkeypatch.setattr(learner, "held_out", killed)
