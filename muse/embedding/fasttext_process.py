"""A process that trains a fastText model, with a path for it and settings as JSON as its arguments."""

from __future__ import annotations

import json
import signal
import sys

TOLD = 4  # the exit code where fastText says what is wrong with the text; its words are the last on stderr


def main() -> None:
    """Trains the model and saves it."""
    from fasttext import FastText

    # Nobody waits for the model of a parent that was killed: the next line of progress ends this process too.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    out, settings = sys.argv[1], json.loads(sys.argv[2])
    # Its function does not take a seed, but its defaults have one; this process is for one model.
    FastText.unsupervised_default["seed"] = settings.pop("seed")
    try:
        FastText.train_unsupervised(**settings).save_model(out)
    except (ValueError, RuntimeError) as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(TOLD)


if __name__ == "__main__":
    main()
