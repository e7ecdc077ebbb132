"""All targets by name."""

from __future__ import annotations

from tests.fuzz import aligned, embeddings, folders, requests, texts, trained, web
from tests.fuzz.target import Target

TARGETS: dict[str, Target] = {
    target.name: target
    for group in (embeddings, texts, folders, trained, aligned, web, requests)
    for target in group.TARGETS
}
