"""The settings of a BGT that differ between the rows of a table, beside those that all rows share."""

from __future__ import annotations

from collections.abc import Mapping

from muse.sentences.systems.bgt.inputs import BgtConfig


def effective(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings but those that the others leave without effect, which `muse train` refuses.

    >>> effective({"annealing": "2500", "prior": "0", "steps": "20"})
    {'prior': '0', 'steps': '20'}
    """
    kinds = {name: type(value) for name, value in vars(BgtConfig()).items()}
    own = {name: kinds[name](text) for name, text in settings.items() if name in kinds}
    ineffective = BgtConfig(**own).ineffective_settings()
    return {name: text for name, text in settings.items() if name not in ineffective}
