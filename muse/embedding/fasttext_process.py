"""A process that trains a fastText model, with a path for it and settings as JSON as its arguments."""

import json
import os
import select
import signal
import sys
from threading import Thread

TOLD = 4  # the exit code where fastText says what is wrong with the text; its words are the last on stderr


def _end_without_reader() -> None:
    """End this process, whose model nobody waits for, once its stderr has no reader: its parent was killed.

    On one thread fastText writes nothing until it has trained, so that no write would fail before.
    """
    watched = select.poll()
    watched.register(sys.stderr, 0)  # no event but an error, for which all are watched
    watched.poll()
    os.kill(os.getpid(), signal.SIGPIPE)


def main() -> None:
    """Trains the model and saves it."""
    from fasttext import FastText

    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    Thread(target=_end_without_reader, daemon=True).start()
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
