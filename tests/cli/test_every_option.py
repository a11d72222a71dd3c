"""Every option of every command and experiment is taken as a user types it, and reaches what does the work."""

import contextlib
import inspect
import itertools

import click
import pytest

from reservoir.cli import COMMANDS, LazyGroup
from reservoir.cli.bench import EXPERIMENTS, BenchGroup
from reservoir.cli.bench import _run as run_of
from reservoir.errors import InputError, Mistake

#: Arguments in which a command gets several options.
GATHERED = ("settings", "where", "search", "reading")


def commands() -> dict[str, click.Command]:
    """All that are no groups, by name."""
    context, group = click.Context(click.Command("reservoir")), LazyGroup("reservoir")
    return {name: group.get_command(context, name) for name in COMMANDS if name != "bench"}


def experiments() -> dict[str, click.Command]:
    context, group = click.Context(click.Command("bench")), BenchGroup("bench")
    return {name: group.get_command(context, name) for name in EXPERIMENTS}


def required(command: click.Command) -> list[str]:
    """What a call of the command cannot do without."""
    asked = [each for each in command.params if each.required]
    return list(itertools.chain(*map(typed, asked)))


def typed(parameter: click.Parameter) -> list[str]:
    """An option or argument as a user may type it, with a value that is not its usual one."""
    if isinstance(parameter, click.Option) and (parameter.is_flag or parameter.count):
        return [(parameter.secondary_opts or parameter.opts)[0]]
    if parameter.name == "further":
        return ["--set", "bits=7"]
    name = [parameter.opts[0]] if isinstance(parameter, click.Option) else []
    return [*name, value_for(parameter.type)]


def value_for(kind: click.ParamType) -> str:
    """The first of some words that the kind of value takes."""
    words = (
        list(kind.choices)[-1:]
        if isinstance(kind, click.Choice)
        else ["x", "0.5", "3", "7", "storage.full_hm3=90:110:3"]
    )
    for word in words:
        with contextlib.suppress(click.BadParameter):
            kind.convert(word, None, None)
            return word
    raise AssertionError(f"nothing is known of {kind}")


def options_of(command: click.Command) -> list[click.Parameter]:
    return [each for each in command.params if each.name not in ("help", "debug")]


@pytest.mark.parametrize("cell", ["nan", "NaN", "-nan", "inf", "-inf", "1e999", "infinity"])
def test_no_option_takes_what_is_no_finite_number(cell):
    """Of all options of numbers with decimals, also NAME=NUMBER: comparisons with the ends of a range let NaN pass."""
    tried = 0
    for command in (*commands().values(), *experiments().values()):
        for each in command.params:
            with contextlib.suppress(click.BadParameter):
                told = each.type.convert("0.5", each, None)
                if isinstance(told[-1] if isinstance(told, tuple) and told else told, float):
                    tried += 1
                    with pytest.raises(click.BadParameter):
                        each.type.convert(cell, each, None)
    assert tried > 19


def innermost(function):
    """The cell that holds the function behind all wrappers, and the function."""
    cell = None
    while hasattr(function, "__wrapped__"):
        cell = dict(zip(function.__code__.co_freevars, function.__closure__, strict=True))["function"]
        function = function.__wrapped__
    return cell, function


@pytest.mark.parametrize(
    ("name", "option"),
    [(name, each.name) for name, command in commands().items() for each in options_of(command)],
)
def test_an_option_of_a_command_reaches_its_function(name, option):
    command = commands()[name]
    parameter = next(each for each in command.params if each.name == option)
    arguments = required(command) if parameter.required else [*typed(parameter), *required(command)]
    values = command.make_context(name, arguments).params
    cell, function = innermost(command.callback)
    bound = []

    def stub(**given):
        bound.append(inspect.signature(function).bind(**given).arguments)

    if cell is None:
        stub(**values)
    else:
        cell.cell_contents = stub
        try:
            command.callback(**values)
        finally:
            cell.cell_contents = function
    given = dict(bound[0])
    given |= vars(given["request"]) if "request" in given else {}
    given |= {name: each[name] for each in map(given.get, GATHERED) if each for name in each}
    assert given["bits" if option == "further" else option] == (7 if option == "further" else values[option])


@pytest.mark.parametrize(
    ("name", "option"),
    [(name, each.name) for name, command in experiments().items() for each in options_of(command)],
)
def test_an_option_of_an_experiment_reaches_its_run(call, monkeypatch, device, name, option, tmp_path):
    command = experiments()[name]
    parameter = next(each for each in command.params if each.name == option)
    value = command.make_context(name, typed(parameter)).params[option]
    reached = {}

    def stub(experiment):
        run = run_of(experiment)

        def bind(*inputs, **own):
            reached.update(inspect.signature(run).bind(*inputs, **own).arguments)
            raise InputError(Mistake("enough"))

        return bind

    monkeypatch.setattr("reservoir.cli.bench._run", stub)
    monkeypatch.setattr(
        "reservoir.cli.options.Request.read", lambda request: reached.update(vars(request) | request.reading) or _case()
    )
    monkeypatch.setattr("reservoir.opencl.choose_devices", lambda name: reached.update(device=name) or (device,))
    output = call("bench", name, *typed(parameter), status=2)
    assert "enough" in output.err
    settings = {**vars(reached["budget"]), **reached.get("swarm", {}), **reached.get("settings", {}), **reached}
    if option not in ("out", "force", "as_json"):  # of the screen and the folder alone
        assert settings[option] == value


def _case():
    from reservoir.cases import bundled_case
    from reservoir.cli.options import Inputs

    case = bundled_case()
    return Inputs(case.reservoir(), case.inflow(), True, True, None)
