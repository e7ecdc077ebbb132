"""muse evaluate: a command for each task that measures a space, or sentence encoders on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, final

import click
from click.shell_completion import CompletionItem

from muse.commands.completion import spaces
from muse.commands.evaluate_words import rows, similarity, words
from muse.commands.options import BY_OPTION, named
from muse.commands.sections import SectionedGroup
from muse.optional import offered

SECTIONS = {
    "Words": [words, similarity],
    "Sentences": offered("evaluate: Sentences"),
    "Unlabelled vectors": [rows],
}
HELP = ("-h", "--help", "--version")


@final
class Tasks(SectionedGroup):
    """The group of tasks; a task may be named by --task too, after its space, and is words by default."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads `SPACE --task words ...` and `SPACE ...` as `words SPACE ...`."""
        if args and args[0] not in (*self.commands, *HELP) and not self._is_misspelt(args[0]):
            ctx.meta[BY_OPTION] = True
            task, rest = _without_task(args, ctx)
            args = [task, *rest]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the task; a usage error says which tasks an option is for that it does not have."""
        try:
            return super().invoke(ctx)
        except click.NoSuchOption as error:
            having = [name for name in self.list_commands(ctx) if self._has(name, error.option_name)]
            if not having or error.ctx is None:
                raise
            with error.ctx.scope(cleanup=False):
                text = f"{error.option_name} is for {named(*having)}, not for {error.ctx.info_name}."
            raise click.UsageError(text, error.ctx) from error

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The tasks, and spaces."""
        found = super().shell_complete(ctx, incomplete)
        more = [one for one in spaces(ctx, incomplete) if isinstance(one, str)]
        return found + [CompletionItem(one) for one in more]

    def _is_misspelt(self, name: str) -> bool:
        # click then says which task was meant.
        from difflib import get_close_matches

        return not Path(name).exists() and bool(get_close_matches(name, self.commands, cutoff=0.8))

    def _has(self, task: str, option: str) -> bool:
        return any(option in one.opts for one in self.commands[task].params)


def _without_task(args: list[str], ctx: click.Context) -> tuple[str, list[str]]:
    """The value of the last --task, words without one, and the other arguments."""
    option = click.Option(["--task"], type=click.Choice(list(evaluate.commands)))
    task, rest, left = "words", list[str](), iter(args)
    for word in left:
        name, equals, value = word.partition("=")
        if name != "--task":
            rest.append(word)
            continue
        given = value if equals else next(left, None)
        if given is None:
            raise click.BadOptionUsage("--task", "Option '--task' requires an argument.", ctx)
        task = option.type.convert(given, option, ctx)
    return task, rest


@click.group(
    cls=Tasks, sections=SECTIONS, subcommand_metavar="TASK SPACE ...",
    examples=(
        "muse evaluate words embeddings/aligned/fr-en --dictionary gold.txt",
        "muse evaluate sentences SPACE --source test.fr --target test.en",
    ),
)  # fmt: skip
def evaluate() -> None:
    """Evaluate a space, or an encoder on it, with gold data.

    Each task explains itself: muse evaluate words --help.
    """
