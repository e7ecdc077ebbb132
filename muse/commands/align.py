"""muse align: learn an aligned space, save it, print the verdict.

For languages that have only text (--src-text, --tgt-text), vectors are trained first.
"""

import shlex
from dataclasses import replace

import click

from muse.commands.command import command
from muse.commands.options import typed
from muse.commands.outputs import FAILED, show
from muse.learn.settings import AlignConfig, AlignOptions
from muse.options import part


@command(
    "muse align --src fr --tgt en",
    "muse align --src fr --tgt en --src-emb wiki.fr.vec --tgt-emb wiki.en.vec --out fr-en",
    context_settings={"allow_extra_args": True},
)
def align(options: AlignOptions) -> int:
    """Align word vectors of two or more languages in one space.

    No parallel data is needed. Each alignment gets a verdict, which needs no dictionary either; if one is
    "failed", the exit code is 3. Words such as pivot, gromov or isf are explained by muse --glossary.
    """
    if unexpected := click.get_current_context().args:
        raise click.UsageError(
            f"Languages are options, such as --src fr --tgt en; got {shlex.join(unexpected)} without one."
        )
    if not options.src:
        raise click.UsageError("Missing option '--src'.")
    if options.tgt is None and options.into is None:
        raise click.UsageError("Missing option '--tgt', or '--into SPACE' in its place.")
    from muse.api.run import run
    from muse.progress import Progress, message
    from muse.run.memory import keep_freed_memory

    config = replace(part(options, AlignConfig), command=typed())
    keep_freed_memory()
    report = run(config, device=options.device, progress=Progress(quiet=options.quiet))
    fields = report.as_json()
    show(options, fields, report.lines(methods=options.verbose))
    report.check()
    if not (options.as_json or options.quiet):
        from muse.commands.align_advice import advice  # reports are slow to load

        click.echo(message("\n".join(advice(report, options))), err=True)
    return FAILED if fields["verdict"] == "failed" else 0
