"""Settings: what is just within a limit passes, what is just outside is named with its value."""

import math
from dataclasses import dataclass
from pathlib import Path

import pytest

from muse.errors import BadSetting
from muse.sentences.training.settings import Settings, Unused, setting


@dataclass(frozen=True)
class Some(Settings):
    """One setting of each kind."""

    layers: int = setting(2, "layers", least=1)
    drop: float = setting(0.0, "share left out", least=0, below=1)
    rate: float = setting(1.0, "rate", above=0, most=2)
    network: str = setting("", "network", choices=("", "gru"), needs="nli")
    english: str = setting("", "folder", folder_unless=("", "space"))
    plain: int = 7

    def unused(self) -> tuple[Unused | None, ...]:
        return (Unused("drop rate", "layers plain") if self.layers == 1 else None,)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        *(({"layers": n}, f"^layers must be .* at least 1, got {n}$") for n in (0, -5)),
        *(
            ({"drop": x}, f"^drop must be .* at least 0 and below 1, got {x}$")
            for x in (-1e-9, 1.0, math.nan, math.inf)
        ),
        *(
            ({"rate": x}, f"^rate must be .* above 0 and at most 2, got {x}$")
            for x in (0.0, 2.5, -math.inf, math.nan)
        ),
        ({"network": "lstm"}, "^network must be one of gru, got 'lstm'$"),
    ],
)
def test_values_outside_a_limit(given: dict[str, float], message: str) -> None:
    with pytest.raises(BadSetting, match=message):
        Some(**given)  # type: ignore[arg-type]


def test_values_within_the_limits() -> None:
    assert Some(1, 1 - 1e-9, 2.0, "gru").rate == 2.0
    assert Some(drop=0.0, rate=1e-9).network == ""


def test_what_has_no_effect_and_which_folders_are_read() -> None:
    reason = "with layers=1 and plain=7; leave it out, or change layers or plain"
    assert Some(1).ineffective_settings() == {"drop": reason, "rate": reason}
    assert Some().ineffective_settings() == {}
    assert Some().without_texts(["nli"]) == {}
    assert Some().without_texts([]) == {"network": "without --nli; leave it out, or give --nli"}
    assert [Some(english=name).folders() for name in ("", "space")] == [{}, {}]
    assert Some(english="x/y").folders() == {"english": Path("x/y")}
