"""muse train-lm: an n-gram language model, for muse translate --lm."""

from pathlib import Path

from muse.commands.command import command
from muse.commands.outputs import Report
from muse.errors import counted
from muse.options import Common, option


class LanguageModelOptions(Common):
    texts: tuple[Path, ...] = option(argument=True, metavar="TEXT...")
    lang: str = option(section="Input", metavar="LANG", help="Language of the text.")
    order: int = option(3, section="Learning", least=1, most=6, help="Length of the longest n-grams.")
    out: Path = option(section="Output", written=True, help="Model to write, .arpa or .arpa.gz.")


@command(
    "muse train-lm text.en --lang en --out en.arpa",
    "muse train-lm a.en b.en.gz --lang en --order 4 --out en.arpa.gz",
)
def train_lm(options: LanguageModelOptions) -> Report:
    """Train an n-gram language model on TEXT files.

    Each line is a sentence. The model uses the same lowercase tokens as muse translate (of German, nouns keep
    their capitals), is smoothed by interpolated modified Kneser-Ney, and is written in the ARPA format.
    """
    from muse.files.text_slices import text_lines
    from muse.files.writing import check_place, check_text_name
    from muse.languages import capitalises_nouns
    from muse.progress import Progress
    from muse.text.arpa import write_arpa
    from muse.text.language_model import learn_language_model
    from muse.text.surface import with_usual_capitals
    from muse.text.tokens import Tokeniser

    check_text_name(options.out, "n-grams", ".arpa or .arpa.gz")
    check_place(options.out)
    lines = [*text_lines(options.texts, None, options.lang)]
    tokeniser = Tokeniser(options.lang)
    sentences = []
    with Progress(quiet=options.quiet).stage("reading text", len(lines), "lines") as tick:
        for done, line in enumerate(lines, 1):
            sentences.append([*tokeniser.tokens(line)])
            tick(done)
    if capitalises_nouns(options.lang):
        sentences = [*with_usual_capitals(sentences)]
    else:
        sentences = [[token.lower() for token in sentence] for sentence in sentences]
    model = learn_language_model(sentences, order=options.order)
    write_arpa(options.out, model)
    counts, learned = [len(level) for level in model.levels], sum(map(bool, sentences))
    fields = {"lines": learned, "empty": len(lines) - learned, "ngrams": counts}
    shown = f"{' + '.join(map(str, counts))} n-grams of {counted(learned, 'line')} in {options.out}"
    return {"out": str(options.out), "order": options.order, **fields}, [shown]
