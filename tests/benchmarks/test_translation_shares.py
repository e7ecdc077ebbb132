"""Translation shares, from sentences whose words are known to translate each other."""

import numpy as np

from benchmarks.words.translation_shares import TranslationShares


def test_each_form_of_a_word_has_its_share() -> None:
    rng, text = np.random.default_rng(0), []
    for _ in range(600):
        words = rng.permutation(20)[:5]
        forms = [
            f"{'ab'[rng.random() < 0.25]}{chr(97 + w)}" for w in words
        ]  # one in four has its second form
        text.append((" ".join(f"x{chr(97 + w)}" for w in words), " ".join(rng.permutation(forms).tolist())))
    found = TranslationShares.of(text)
    shares = {pair: at for at, pair in enumerate(found.pairs)}
    for word in map(chr, range(97, 117)):
        common, rare = (shares[f"x{word}", form + word] for form in "ab")
        assert abs(found.of_source[common] - 0.75) < 0.12
        assert abs(found.of_source[rare] - 0.25) < 0.12
        assert found.of_target[[common, rare]].min() > 0.9
    counts = sum(
        found.counts[[shares[f"x{word}", f"{form}{word}"] for form in "ab"]].sum() for word in "abcdefgh"
    )
    seen = sum(len({*source.split()} & {f"x{word}" for word in "abcdefgh"}) for source, _ in text)
    assert abs(counts / seen - 1) < 0.05
