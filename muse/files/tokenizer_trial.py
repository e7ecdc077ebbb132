"""A tokenizer tried in a process of its own, with limits of memory and time: it ends with 0 if it holds.

Arguments: the tokenizer's file, words separated by NUL in a file, bytes, seconds, and how many tokens may be
added to its pieces. Nothing of muse is imported.
"""

import json
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BATCH = 512  # words at once, as when they are encoded
PIECES = 20_000  # of its own that it is tried on
MORE, FOR_EACH = 1_000, 40  # tokens of any text, and for each of its characters


def main(path: Path, listed: Path, memory: int, seconds: int, added: int) -> None:
    """Read pieces of a tokenizer and words with it, within limits."""
    for kind, most in (("RLIMIT_AS", memory), ("RLIMIT_CPU", seconds), ("RLIMIT_CORE", 0)):
        resource.setrlimit(getattr(resource, kind), (most, most))
    tokenizer = _opened(path)
    if getattr(tokenizer.model, "dropout", None):
        sys.exit("pieces are drawn at random")
    if len(tokenizer.get_added_tokens_decoder()) > added:  # each is looked for in every text
        sys.exit("too many added tokens")
    size = tokenizer.get_vocab_size()
    pieces = map(tokenizer.id_to_token, range(0, size, -(-size // PIECES) or 1))
    texts = [*filter(None, pieces), *_strings(tokenizer), *listed.read_text("utf-8").split("\0")]
    for begin in range(0, len(texts), BATCH):
        batch = texts[begin : begin + BATCH]
        for text, tokens in zip(batch, tokenizer.encode_batch(batch), strict=True):
            if len(tokens) > MORE + FOR_EACH * len(text):
                sys.exit(f"{len(tokens)} tokens of {len(text)} characters")


def _opened(path: Path) -> Any:
    if path.name == "tokenizer.json":
        from tokenizers import Tokenizer

        return Tokenizer.from_file(str(path))
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(str(path.parent), local_files_only=True).backend_tokenizer


def _strings(tokenizer: Any) -> Iterator[str]:
    """What a tokenizer replaces, several times in a text."""
    steps = filter(None, (tokenizer.normalizer, tokenizer.pre_tokenizer))
    level = [*(json.loads(step.__getstate__()) for step in steps)]
    level += [token.content for token in tokenizer.get_added_tokens_decoder().values()]
    while level:
        value = level.pop()
        level += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        if isinstance(value, str) and len(value) < 100:
            yield from (value, value * 20)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *map(int, sys.argv[3:]))
