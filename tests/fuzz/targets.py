"""All targets by name."""

from tests.fuzz import aligned, embeddings, folders, kept, requests, texts, trained, web
from tests.fuzz.target import Target

GROUPS = (embeddings, texts, kept, folders, trained, aligned, web, requests)
TARGETS: dict[str, Target] = {target.name: target for group in GROUPS for target in group.TARGETS}
