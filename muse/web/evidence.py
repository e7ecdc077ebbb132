"""Evidence: what the manifest of a space records of how it was made and judged, for the page to show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any, TypeVar

from muse.evaluation.score import look_up_signature
from muse.files.space_manifest import presentable
from muse.search.retrieval import Retrieval
from muse.space import AlignedSpace
from muse.web import answers

Entry = Mapping[str, Any]
Model = TypeVar("Model", answers.Judgement, answers.HeldOut)


def space_answer(space: AlignedSpace, name: str, examples: Mapping[str, list[str]]) -> answers.Space:
    """The languages of a space, with examples, and what its verdict rests on."""
    space = replace(space, manifest=presentable(space.manifest))
    manifest = space.manifest
    verdict = _read(answers.Judgement, manifest.get("verdict"))
    return answers.Space(
        name=name,
        pivot=space.pivot,
        dimension=space.vectors(space.pivot).dimension,
        languages=[_language(space, language, examples[language]) for language in space.languages],
        method=str(manifest.get("method") or ""),
        verdict=verdict.label if verdict else None,
        confidence=verdict.confidence if verdict else None,
        mapping=_text(manifest.get("mapping")),
        muse_version=_text(manifest.get("muse_version")),
    )


def _language(space: AlignedSpace, name: str, examples: list[str]) -> answers.Language:
    entry = _entry(space, name)
    mapped, files = name != space.pivot, entry.get("files")
    return answers.Language(
        name=name,
        words=len(space.vectors(name)),
        ranked=space.vectors(name).ranked,
        examples=examples,
        verdict=_read(answers.Judgement, entry.get("verdict")) if mapped else None,
        held_out=_read(answers.HeldOut, entry.get("supervision")) if mapped else None,
        signature=_signature(space, name, entry) if mapped else None,
        files=[_file(file) for file in files if isinstance(file, Mapping)] if isinstance(files, list) else [],
    )


def _entry(space: AlignedSpace, language: str) -> Entry:
    # What a manifest records of the whole space is that of its only mapping.
    languages = space.manifest.get("languages")
    own = languages.get(language) if isinstance(languages, Mapping) else None
    own = own if isinstance(own, Mapping) else {}
    return {**space.manifest, **own} if len(space.languages) == 2 else own


def _signature(space: AlignedSpace, language: str, entry: Entry) -> str:
    recorded = _text(entry.get("signature"))
    return recorded or str(look_up_signature(space, language, space.pivot, retrieval=Retrieval()))


def _file(file: Entry) -> answers.VectorFile:
    # The name alone: where it was is of no use to others.
    name = PurePath(str(file.get("path", "")).replace("\\", "/")).name
    return answers.VectorFile(name=name, sha256=_text(file.get("sha256")))


def _read(model: type[Model], fields: object) -> Model | None:
    try:
        return model.model_validate(fields)
    except ValueError:  # not recorded, or by hand
        return None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
