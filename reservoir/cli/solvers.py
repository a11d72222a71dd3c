"""``reservoir solvers``: list the solvers, and the settings of one."""

from __future__ import annotations

import click

from reservoir.cli import options


@click.command("solvers")
@click.argument("name", metavar="[NAME]", required=False)
@options.json
@options.debug
def command(name: str | None, as_json: bool) -> None:
    """List the solvers, or the settings of the solver NAME: their default, what they may be, and what they mean.

    `reservoir plan --solver NAME --set SETTING=VALUE` changes one.
    """
    from reservoir.cli.screen import Column, show_json, show_table
    from reservoir.cli.streams import say
    from reservoir.solvers import SOLVERS, described_settings, solver_named, why_unusable

    if name is None:
        reasons = {each: why_unusable(each) for each in SOLVERS}
        if as_json:
            rows = [
                {"name": each.name, "summary": each.summary, "opencl": each.opencl, "unusable": reasons[each.name]}
                for each in SOLVERS.values()
            ]
            show_json({"solvers": rows})
            return
        show_table((Column("solver"), Column("what it is")), [(each.name, each.summary) for each in SOLVERS.values()])
        for reason in dict.fromkeys(filter(None, reasons.values())):
            say(f"Not usable here, {', '.join(each for each in SOLVERS if reasons[each] == reason)}: {reason}")
        return
    entry, settings = solver_named(name), described_settings(name)
    if as_json:
        keys = ("name", "default", "expected", "meaning")
        show_json(
            {
                "name": name,
                "summary": entry.summary,
                "settings": [dict(zip(keys, row, strict=True)) for row in settings],
            }
        )
        return
    say(f"{name}: {entry.summary}")
    for setting, default, expected, meaning in settings:
        say(f"\n{setting}{'' if default is None else f' = {default}'}  ({expected})")
        say(click.wrap_text(meaning, 100, "    ", "    "))
