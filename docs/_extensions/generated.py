"""Directives that take their text from the program, so that the pages always agree with it."""

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

import click
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

#: Width of a help text, in characters: the page shows it without scrolling.
WIDTH = 72
Rows = Iterable[tuple[str, ...]]


def help_of(command: list[str]) -> str:
    """What ``reservoir COMMAND --help`` prints."""
    found = import_module("reservoir.cli").cli
    context = click.Context(found, info_name="reservoir")
    for word in command:
        found = found.get_command(context, word)
        context = click.Context(found, parent=context, info_name=word, terminal_width=WIDTH)
    return found.get_help(context)


class CommandHelp(SphinxDirective):
    """The help text of a command: ``command-help:: bench case``."""

    required_arguments, final_argument_whitespace = 1, True

    def run(self) -> list[nodes.Node]:
        """One literal block."""
        block = nodes.literal_block(text=help_of(self.arguments[0].split()))
        block["language"] = "text"
        return [block]


def table(head: tuple[str, ...], rows_of: Callable[[str], Rows]) -> type[SphinxDirective]:
    """A directive that shows a table of what its argument names, with this head."""

    class Table(SphinxDirective):
        optional_arguments = 1

        def run(self) -> list[nodes.Node]:
            rows = rows_of(self.arguments[0] if self.arguments else "")
            lines = [head, ("---",) * len(head), *rows]
            text = ["| " + " | ".join(cell.replace("|", "or") for cell in line) + " |" for line in lines]
            found = nodes.Element()
            self.state.nested_parse(StringList(text, self.get_source_info()[0]), self.content_offset, found)
            return found.children

    return Table


def section_keys(section: str) -> Rows:
    """Keys of a section of the reservoir file, or of its top for none; and of the entries of the system file."""
    of = import_module("reservoir.hydro.attributes")
    rows = (*of.ATTRIBUTES, *of.SITE_ATTRIBUTES, *of.LINK_ATTRIBUTES)
    return [key_of(row) for row in rows if row.section == section]


def curve_keys(name: str) -> Iterator[tuple[str, ...]]:
    """Keys of a curve of the reservoir file, by its kind."""
    for kind, rows in import_module("reservoir.hydro.attributes").curve_keys(name).items():
        for row in rows:
            if row.name != "kind":
                yield (f'`"{kind}"`' if kind else "", *key_of(row))


def key_of(row: Any) -> tuple[str, ...]:
    """Key of an attribute, whether its section must have it or what it is without, and what is expected."""
    usual = getattr(row.default, "value", row.default)
    written = f"`{usual}`" if isinstance(usual, int | float) or (usual and isinstance(usual, str)) else ""
    return f"`{row.name}`", "**required**" if row.required else written, row.description


def columns(name: str) -> Rows:
    """Columns of a table of results."""
    meanings = import_module("reservoir.planning.columns").meanings(name)
    return [(f"`{column}`", meaning) for column, meaning in meanings.items()]


def units(_: str) -> Rows:
    """Units of an inflow record, with every spelling."""
    spellings = import_module("reservoir.io.records.words").SPELLINGS
    sizes = import_module("reservoir.hydro.units")
    for unit, spelt in spellings.items():
        of_flow = unit in sizes.FLOW_M3S
        size, base = (sizes.FLOW_M3S[unit], "m3/s") if of_flow else (sizes.VOLUME_HM3[unit], "hm3")
        yield (f"`{unit}`", "mean flow" if of_flow else "volume", f"{size:.10g} {base}", ", ".join(sorted(spelt)))


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directives."""
    app.add_directive("command-help", CommandHelp)
    app.add_directive("key-table", table(("key", "default", "meaning"), section_keys))
    app.add_directive("curve-table", table(("kind", "key", "default", "meaning"), curve_keys))
    app.add_directive("column-table", table(("column", "meaning"), columns))
    app.add_directive("unit-table", table(("unit", "quantity", "one unit is", "spellings"), units))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
