"""Directives whose text comes from the program itself, so that it cannot drift: `command-help` and `key-table`."""

from collections.abc import Iterator
from importlib import import_module

import click
from docutils import nodes
from docutils.statemachine import StringList
from pydantic import BaseModel
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

#: Columns of a help text: as a terminal shows it.
WIDTH = 100


def help_of(command: list[str]) -> str:
    """What ``reservoir COMMAND --help`` prints."""
    found, context = (
        import_module("reservoir.cli").cli,
        click.Context(click.Command("reservoir"), info_name="reservoir"),
    )
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


class KeyTable(SphinxDirective):
    """The keys of a section of the reservoir file: ``key-table:: reservoir.io...schema.StorageSection``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """A table: key, whether it may be left out, and what is expected."""
        module, _, name = self.arguments[0].rpartition(".")
        section: type[BaseModel] = getattr(import_module(module), name)
        lines = ["| key | | what it holds |", "|---|---|---|", *rows_of(section)]
        found = nodes.Element()
        self.state.nested_parse(StringList(lines, self.get_source_info()[0]), self.content_offset, found)
        return found.children


def rows_of(section: type[BaseModel]) -> Iterator[str]:
    """A row for each key of a section, in Markdown."""
    for name, field in section.model_fields.items():
        if field.description:
            needed = "needed" if field.is_required() else "optional"
            yield f"| `{field.alias or name}` | {needed} | {field.description.replace('|', ' or ')} |"


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directives."""
    app.add_directive("command-help", CommandHelp)
    app.add_directive("key-table", KeyTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
