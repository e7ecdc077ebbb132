"""The seven encoders of Conneau's thesis (2019, section 3.2.3), trained on SICK and measured by senteval.py.

    python -m benchmarks.sentences.seven_encoders --space SPACE --out FILE.csv --work FOLDER
        [--encoders LSTM,GRU,...]
        [--epochs 4] [--set units=128] [--seeds 0-2] [--tasks sickr,stsb,...] [--shared ../shared]

Each is an InferSent of SICK's English train part whose epoch the dev part chooses (`muse train --encoder
infersent`); they differ in `network` and `pooling` alone, so that the vectors have 1, 2 or 8 times `units`
columns. A trained encoder stays in --work and is used again: other settings need another --work and --out.
Tasks and table are those of senteval.py.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from benchmarks.sentences.senteval import fill, options, show
from benchmarks.support.kept_rows import read_rows
from benchmarks.support.sick import official
from benchmarks.support.tables import muse

SEVEN = {
    "LSTM": ("network=lstm", "pooling=last"),
    "GRU": ("network=gru", "pooling=last"),
    "BiGRU-last": ("network=bigru", "pooling=last"),
    "BiLSTM-mean": ("network=bilstm", "pooling=mean"),
    "BiLSTM-max": ("network=bilstm", "pooling=max"),
    "inner-attention": ("network=bilstm", "pooling=attention"),
    "HConvNet": ("network=convolution",),  # its pooling is its own
}


def trained(name: str, asked: argparse.Namespace, seed: int) -> str:
    """The folder of an encoder, trained if it is not there."""
    folder: Path = asked.work / f"{name}.{seed}"
    if not folder.exists():
        settings = [*SEVEN[name], *asked.set]
        folder.parent.mkdir(parents=True, exist_ok=True)
        muse(
            "train", asked.space, "--encoder", "infersent", "--lang", "en",
            "--nli", official(asked.shared / "data"), "--epochs", str(asked.epochs),
            *(word for setting in settings for word in ("--set", setting)),
            "--seed", str(seed), "--threads", "1", "--out", folder,
        )  # fmt: skip
    return str(folder)


def chosen(text: str) -> list[str]:
    """The names in a list with commas; an ArgumentTypeError for another name."""
    names = text.split(",")
    if unknown := set(names) - SEVEN.keys():
        raise argparse.ArgumentTypeError(f"expected some of {', '.join(SEVEN)}; got {', '.join(unknown)}")
    return names


def main() -> None:
    """Trains what is missing, makes the rows that are missing, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options(parser)
    parser.add_argument("--encoders", type=chosen, default=[*SEVEN])
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="as of muse train")
    asked = parser.parse_args()
    if not asked.table:
        fill({name: partial(trained, name, asked) for name in asked.encoders}, asked)
    show(read_rows(asked.out))


if __name__ == "__main__":
    main()
