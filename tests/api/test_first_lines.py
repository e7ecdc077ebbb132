"""The lines that somebody who knows numpy, pandas and scikit-learn would type first, without the docs.

Each is run in order where the tutorial was followed, and shows what stands below it: the value of an
expression, what is printed, or the error.
"""

import contextlib
import io
import shutil
from pathlib import Path
from typing import Any

import pytest

from muse.errors import MuseError
from tests.support.pages import agree

LINES = """
>>> import muse
>>> [name for name in dir(muse) if not name.startswith("_")]
['AlignConfig', 'MuseError', 'Space', 'align', 'embed', 'evaluate', 'induce', 'load', 'load_encoder', 'load_space', 'read_vectors']
>>> toy = muse.align("fr", "en", src_emb="toy/fr.vec", tgt_emb="toy/en.vec", init="similarity", out="toy/space", quiet=True)
>>> toy
Space(fr: 600 words, en: 600 words, 20 dimensions, pivot en, aligned (confidence 1.00))
>>> space = muse.load("embeddings/aligned/fr-en")
>>> space
Space(fr: 5,000 words, en: 5,000 words, 250 dimensions, pivot en, aligned (confidence 1.00))
>>> muse.load("embeddings/aligned/fr-de")
embeddings/aligned/fr-de: expected an aligned space, found no such folder; the spaces here are embeddings/aligned/fr-en
>>> len(space), space.languages
(10000, ('fr', 'en'))
>>> space.verdict
aligned (confidence 1.00)
>>> space.verdict == "aligned"
True
>>> "roi" in space, "xyzzy" in space, ("en", "roi") in space
(True, False, False)
>>> space["roi"].shape, space["roi"].dtype
((250,), dtype('float32'))
>>> space["xyzzy"]
'xyzzy' is in no language of this space (fr, en); check its spelling
>>> space["table"]
'table' is a word of fr and of en; choose one: space["fr", "table"]
>>> float(space["roi"] @ space["king"])
0.837
>>> space.similarity("roi", "king"), space.similarity("roi", "horse")
(0.837..., 0.150...)
>>> space.translate("roi", top=2)
roi (fr-en): king 0.404 (91 %), prince 0.082 (21 %)
>>> space.translate("roi")[0].probability
0.910
>>> for word, score in space.translate("cheval", top=2): print(word, round(score, 3))
horse 0.529
horses 0.308
>>> space.translate("queen").best.target
'reine'
>>> space.translate(["roi", "reine", "chateau"], top=1)
roi (fr-en): king 0.404 (91 %)
reine (fr-en): queen 0.390 (87 %)
chateau (fr-en): 'chateau' is not among the 5000 words of fr; did you mean château...?
>>> space.translate(["roi", "reine"], top=2).to_frame()[["source", "target", "rank", "mutual"]]
  source    target  rank  mutual
0    roi      king     1    True
1    roi    prince     2   False
2  reine     queen     1    True
3  reine  princess     2   False
>>> space.translate("maisom")
'maisom' is in no language of this space (fr, en); did you mean maison (fr), ...?
>>> space.translate("le roi dort")
'le roi dort' is in no language of this space (fr, en); for several words, give a list of them
>>> import pandas as pd; space.translate(pd.Series(["roi", "cheval"]), top=1)
roi (fr-en): king 0.404 (91 %)
cheval (fr-en): horse 0.529 (87 %)
>>> muse.evaluate(space, pd.DataFrame({"source": ["roi"], "target": ["king"]})).p_at_1
100.0
>>> space.vectors("de")
the languages of this space are fr, en; got 'de'
>>> space[["roi", "reine"]].shape
(2, 250)
>>> space.neighbours("roi", top=2, lang="en")
'roi' is not among the 5000 words of en; it is a word of fr; check lang
>>> space.translate(None)
a word must be str, got None
>>> space.translate("roi", top=2.5)
top must be a whole number of at least 1, got 2.5
>>> space.neighbours("roi", top=3)
roi (fr): duc 0.745, prince 0.733, empereur 0.729
>>> df = space.dictionary()
>>> df.shape, list(df.columns)
((5000, 5), ['source', 'target', 'score', 'rank', 'probability'])
>>> df[df.source.isin(["lune", "soleil"])].target.tolist()
['sun', 'moon']
>>> df.probability.describe().round(1).loc[["mean", "max"]].tolist()
[0.7, 1.0]
>>> muse.induce(space, out="fr-en.csv", mutual=True)
Lexicon(3,033 pairs: de of, et and, à to, ...)
>>> muse.evaluate(space, "dictionaries/fr-en.sample.txt").p_at_1
86.5
>>> muse.evaluate(space, {"roi": "king", "lune": "moon"}).p_at_1
100.0
>>> space.vectors("fr")
Vectors(fr: 5000 words, 250 dimensions)
>>> from sklearn.cluster import KMeans; KMeans(3, random_state=0).fit(space.vectors("fr").matrix[:100]).labels_.shape
(100,)
>>> list(space)[:2]
[('fr', 'de'), ('fr', 'la')]
>>> space.save("my-space")
PosixPath('my-space')
>>> muse.load("my-space").translate("nuit", top=1)
nuit (fr-en): night 0.383 (94 %)
"""  # noqa: E501


def test_there_are_thirty() -> None:
    assert len(pairs()) >= 30


def pairs() -> list[tuple[str, str]]:
    """Each line with what it shows."""
    parts = (part.partition("\n") for part in LINES.strip().removeprefix(">>> ").split("\n>>> "))
    return [(line, shown) for line, _, shown in parts]


def run(line: str, variables: dict[str, Any]) -> str:
    """What a line shows at the prompt."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            exec(compile(f"{line}\n", "a line", "single"), variables)  # noqa: S102 - our own lines
        except MuseError as error:
            return str(error)
    return out.getvalue()


def test_each_line_shows_what_stands_below_it(
    checkout: Path, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pandas")
    folder = tmp_path / "checkout"
    shutil.copytree(checkout, folder, symlinks=True)
    (folder / "toy").mkdir()
    for name in ("fr.vec", "en.vec"):
        shutil.copy(files / name, folder / "toy")
    monkeypatch.chdir(folder)
    variables: dict[str, Any] = {}
    for line, shown in pairs():
        printed = run(line, variables)
        assert len(printed) < 1_000, line
        agree(printed, shown)
