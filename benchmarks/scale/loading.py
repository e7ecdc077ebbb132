"""How fast word vectors are read from text: by muse, gensim, pyarrow, and the bare reading of the bytes.

    python -m benchmarks.scale.loading [--words 200000] [--dimension 300] [--numbers 5] [--repeat 2]

Each reading runs in a process of its own, one after the other, and the best of the repeats counts.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.support.options import command_line

# What the numbers of a file look like: so many decimals, fastText's own five digits, or all that float32 has.
FORMATS = {
    **{str(decimals): f"%.{decimals}f" for decimals in (3, 4, 5, 6)}, "significant": "%.5g", "full": "%.9g",
}  # fmt: skip
# pyarrow does less than the others: it rejects words with spaces and lines that end with one, as in fastText;
# it does not check the header nor drop repeated words. It reads with one thread, as muse does, and with two.
PYARROW = """import numpy, pyarrow, pyarrow.csv as csv; pyarrow.set_cpu_count({threads})
with open(path, 'rb') as f:
    dimension = int(f.readline().split()[1])
names = ['word', *map(str, range(dimension))]
table = csv.read_csv(
    path,
    csv.ReadOptions(use_threads={threads} > 1, block_size=1 << 22, column_names=names, skip_rows=1),
    csv.ParseOptions(delimiter=' ', quote_char=False, double_quote=False),
    csv.ConvertOptions(
        column_types={{name: pyarrow.float32() for name in names[1:]}} | {{'word': pyarrow.string()}},
        null_values=[], strings_can_be_null=False,
    ),
)
words = table.column(0).to_pylist()
matrix = numpy.empty((len(words), dimension), numpy.float32)
begin = 0
for batch in table.drop_columns(['word']).to_batches():
    matrix[begin : begin + len(batch)] = numpy.array([column.to_numpy() for column in batch.columns]).T
    begin += len(batch)
"""
READERS = {
    "bytes only": "with open(path, 'rb', buffering=0) as f:\n    while f.read(1 << 20): pass",
    "muse": "from muse.files import read_vectors; read_vectors(path, language='xx')",
    "gensim": "from gensim.models import KeyedVectors; KeyedVectors.load_word2vec_format(path)",
    "pyarrow 1": PYARROW.format(threads=1),
    "pyarrow 2": PYARROW.format(threads=2),
}
# The imports come before the clock starts, and their memory counts as theirs.
MEASURE = """
import resource, sys, time
path = sys.argv[1]
def imports(): {imports}
def run():
{body}
imports()
wall, cpu = time.perf_counter(), time.process_time()
run()
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
print(wall, cpu, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


class Cost(NamedTuple):
    """What one reading took."""

    seconds: float
    processor_seconds: float
    peak_megabytes: float


def make_file(path: Path, *, words: int, dimension: int, numbers: str, rng: np.random.Generator) -> None:
    """Writes vectors with values like those of fastText: normal, with a deviation of 0.2."""
    line = " ".join([FORMATS[numbers]] * dimension)
    with path.open("w", encoding="utf-8") as stream:
        stream.write(f"{words} {dimension}\n")
        for begin in range(0, words, 1000):
            rows = rng.normal(0, 0.2, (min(1000, words - begin), dimension)).astype(np.float32).tolist()
            stream.writelines(f"word{begin + i} {line % tuple(row)}\n" for i, row in enumerate(rows))


def measure(reader: str, path: Path) -> Cost:
    """What one reading of the file costs, in a process of its own."""
    statement = READERS[reader]
    imports = statement.partition(";")[0] if ";" in statement else "pass"
    body = "\n".join(f"    {line}" for line in statement.splitlines())
    script = MEASURE.format(imports=imports, body=body)
    run = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True
    )
    seconds, processor_seconds, kilobytes = map(float, run.stdout.split())
    return Cost(seconds, processor_seconds, kilobytes / 1024)


def main() -> None:
    """Makes the file, measures and prints the table."""
    asked = command_line(
        __doc__, words=200_000, dimension=300, numbers=("5", f"one of {', '.join(FORMATS)}"), repeat=2
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.vec"
        rng = np.random.default_rng(0)
        make_file(path, words=asked.words, dimension=asked.dimension, numbers=asked.numbers, rng=rng)
        megabytes = path.stat().st_size / 1e6
        # In turns, so that a busy machine is busy for all of them.
        runs = [{reader: measure(reader, path) for reader in READERS} for _ in range(asked.repeat)]
    best = {reader: min(run[reader] for run in runs) for reader in READERS}
    print(f"{asked.words} x {asked.dimension}, {FORMATS[asked.numbers]}, {megabytes:.0f} MB of text;")
    print(f"the matrix itself is {asked.words * asked.dimension * 4 / 2**20:.0f} MiB")
    print(f"{'':12}{'seconds':>9}{'cpu':>8}{'MB/s':>8}{'peak MiB':>10}{'gensim / it':>13}")
    for reader, cost in best.items():
        ratio = best["gensim"].seconds / cost.seconds
        speed = megabytes / cost.seconds
        print(
            f"{reader:12}{cost.seconds:9.2f}{cost.processor_seconds:8.2f}{speed:8.0f}"
            f"{cost.peak_megabytes:10.0f}{ratio:13.1f}"
        )


if __name__ == "__main__":
    main()
