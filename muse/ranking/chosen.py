"""Chosen answers: those of one direction and how they were chosen, and what both directions say of them.

Each direction is chosen without the other. How many words are each other's answer tells, where held-out words
do not, whether to keep CSLS, and how probable answers are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from muse.ranking.candidates import NeighbourLists
from muse.ranking.expected import ExpectedPrecision, frequent_probability, log_odds_of
from muse.ranking.model import ChoiceReport, csls_answers, mutual_share, mutual_shift, shifted
from muse.ranking.oov import OovRanker
from muse.space.derived import AnswerTable
from muse.vectors import Matrix, Numbers

MUTUAL_LEFT = 0.9  # the least share that must be left of the mutual answers by CSLS
# Where spelling says nothing, the trees know that the forms of a word may share a translation: of three pairs
# of languages .75 to .84 were left, and P@1 on the training lists rose.
MUTUAL_LEFT_UNSPELLED = 0.6


@dataclass(frozen=True, eq=False)
class ChosenAnswers:
    """The answers from one language to another and how they were chosen; `unseen` answers further words.

    It is None where CSLS ranks these: where it ranks all, or spelling says nothing. `without_pairs` (n,) are
    the first answers by the pretrained trees, where a list of one translation each cannot tell how probable
    answers are. `informed` is whether outside scores said anything. `hubness` (n,) is that of the words, None
    where not found exactly.
    """

    answers: AnswerTable
    report: ChoiceReport
    unseen: OovRanker | None = None
    without_pairs: Numbers | None = None
    informed: bool = False
    hubness: Matrix | None = None

    @classmethod
    def by_csls(cls, lists: NeighbourLists, report: ChoiceReport, *, informed: bool = False) -> ChosenAnswers:
        """The answers that the neighbours give by CSLS."""
        report = replace(report, by="csls", mix=0.0)
        return cls(csls_answers(lists), report, informed=informed, hubness=lists.exact_hubness)

    def calibrated(self, by: float) -> ChosenAnswers:
        """With so much added to the log odds of their probabilities, and of those of unseen words."""
        answers = replace(self.answers, probability=shifted(self.answers.probability, by))
        if self.unseen is None:
            return replace(self, answers=answers)
        model = replace(self.unseen.model, curve=self.unseen.model.curve.shifted(by))
        return replace(self, answers=answers, unseen=replace(self.unseen, model=model))

    def expecting(self) -> ChosenAnswers:
        """With the precision to expect of them in the report; of those by CSLS alone nothing is known."""
        if self.report.by == "csls" or self.report.expected is not None:
            return self
        promised = frequent_probability(self.answers)
        expected = ExpectedPrecision.of(promised, self.report.evidence, self.report.tested)
        return replace(self, report=replace(self.report, expected=expected))

    def held_down(self) -> ChosenAnswers:
        """Promising no more than is expected with the words held out.

        Of these one translation was known, by which alone probabilities would be too low.
        """
        found, promised = self.expecting(), log_odds_of(frequent_probability(self.answers))
        if found.report.expected is None:
            return self
        return found.calibrated(min(0.0, log_odds_of(found.report.expected.p_at_1 / 100) - promised))


def more_mutual(
    found: tuple[ChosenAnswers, ...], lists: NeighbourLists, *, outside: bool, left: float
) -> tuple[ChosenAnswers, ...]:
    """The directions, or those by CSLS if far fewer words than by it are each other's answer.

    It replaces a test where held-out words do not decide and there are no outside scores.
    """
    there, back = (one.answers.first() for one in found)
    there_without, back_without = (one.without_pairs for one in found)
    mutual, by_csls = mutual_share(there, back), mutual_share(lists.columns[:, 0], lists.rows[:, 0])
    shown = [replace(one, report=replace(one.report, mutual=mutual, mutual_csls=by_csls)) for one in found]
    tested = outside or any(one.report.labelled and not one.report.undecided for one in shown)
    if not tested and mutual < left * by_csls:
        sides = zip((lists, lists.reversed()), shown, strict=True)
        return tuple(ChosenAnswers.by_csls(of, one.report) for of, one in sides)
    if not any(one.report.labelled for one in shown):
        by = mutual_shift(there, back)
    elif there_without is not None and back_without is not None:
        by = mutual_shift(there_without, back_without)
        return tuple(one.calibrated(by).held_down() for one in shown)
    else:
        return tuple(shown)
    return tuple(one.calibrated(by) for one in shown)
