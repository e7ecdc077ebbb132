"""Settings: dataclasses whose fields say, once, their default, what they are, and which values they may have.

From these declarations come --set, its checks, the presets, and what a page of documentation says of each.
The names are those of attributes, which users see as names of --set.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from muse.options import KINDS, TEXT, Declaration

LARGEST_WHOLE = 1_000_000_000
TEXT_OF_MORE = "text of more languages"  # the need of settings that weigh languages against each other


def setting(
    default: Any,
    meaning: str,
    *,
    choices: Collection[str] | None = None,
    needs: str = "",
    folder_unless: Collection[str] | None = None,
    **bounds: float,
) -> Any:
    """A field of settings, declared as an option is, with the words that describe it.

    :param choices: the values that it may have; an empty one, which stands for the default, is not listed
    :param needs: the kind of text without which it has no effect
    :param folder_unless: for the folder of a saved encoder, the values that name none
    :param bounds: `least` or `above`, `most` or `below`
    """
    listed = tuple(filter(None, choices or ()))
    declared = Declaration(default, help=meaning, choices=listed, **bounds)  # type: ignore[arg-type]
    return field(
        default=default, metadata={"declared": declared, "needs": needs, "folder_unless": folder_unless}
    )


class Unused(NamedTuple):
    """Settings that have no effect, and those whose values are the cause; both as names between spaces."""

    names: str
    causes: str


@dataclass(frozen=True)
class Settings:
    """The base of all settings; BadSetting for values that a declaration does not allow."""

    def __post_init__(self) -> None:
        for part in fields(self):
            declared, value = part.metadata.get("declared"), getattr(self, part.name)
            if declared is not None and value not in (None, ""):
                kind = KINDS.get(part.type) or KINDS.get(type(value), TEXT)
                huge = isinstance(value, int) and value > LARGEST_WHOLE
                most = LARGEST_WHOLE if huge else declared.most
                replace(declared, flags=(part.name,), kind=kind, most=most).checked(value)
        self.check()

    def check(self) -> None:
        """Raise BadSetting for values that do not go together."""

    def unused(self) -> Sequence[Unused | None]:
        """The settings that have no effect given the others; None where a rule does not apply."""
        return ()

    def ineffective_settings(self) -> dict[str, str]:
        """The settings that have no effect given the others, each with the reason and what to do."""
        found: dict[str, str] = {}
        for one in filter(None, self.unused()):
            causes = {name: getattr(self, name) for name in one.causes.split()}
            shown = (f"{name}={KINDS[type(value)].shown(value)}" for name, value in causes.items())
            reason = f"with {' and '.join(shown)}; leave it out, or change {' or '.join(causes)}"
            found |= dict.fromkeys(one.names.split(), reason)
        return found

    def without_texts(self, given: Collection[str]) -> dict[str, str]:
        """The settings that have no effect without a kind of text that is not given, each with the reason."""
        needs = {part.name: part.metadata.get("needs") for part in fields(self)}
        return {
            name: f"without --{kind}; leave it out, or give --{kind}"
            for name, kind in needs.items()
            if kind and kind not in given
        }

    def folders(self) -> dict[str, Path]:
        """The folders of saved encoders that the settings name."""
        words = ((part.name, part.metadata.get("folder_unless")) for part in fields(self))
        named = ((name, getattr(self, name), kept) for name, kept in words if kept is not None)
        return {name: Path(value) for name, value, kept in named if value not in kept}
