"""``reservoir solvers`` and ``reservoir devices``: list the solvers, the settings of one, and the OpenCL devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reservoir.cli import options

if TYPE_CHECKING:
    from reservoir.opencl import DeviceInfo


@click.command("solvers")
@click.argument("name", metavar="[NAME]", required=False)
@options.json
@options.debug
def solvers(name: str | None, as_json: bool) -> None:
    """List the solvers, or the settings of the solver NAME: their default, what they may be, and what they mean.

    `reservoir plan --solver NAME --set SETTING=VALUE` changes one.
    """
    from reservoir.cli import say
    from reservoir.cli.screen import Column, show_json, show_table
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
        rows = [dict(zip(keys, row, strict=True)) for row in settings]
        show_json({"name": name, "summary": entry.summary, "settings": rows})
        return
    say(f"{name}: {entry.summary}")
    for setting, default, expected, meaning in settings:
        say(f"\n{setting}{'' if default is None else f' = {default}'}  ({expected})")
        say(click.wrap_text(meaning, 100, "    ", "    "))


@click.command("devices")
@options.json
@options.debug
def devices(as_json: bool) -> None:
    """List the OpenCL devices, their drivers, the default device, and what is installed but cannot be used.

    Choose a device by its index or a part of its name, with --device or the environment variable RESERVOIR_DEVICE.
    """
    from reservoir.cli import say
    from reservoir.cli.screen import show_json
    from reservoir.opencl import choose_devices, left_out, list_devices
    from reservoir.opencl.trial import forget_refusals

    forget_refusals()
    usable = list_devices()
    lacking = [str(mistake) for mistake in left_out()]
    chosen = choose_devices("auto") if usable else ()
    if as_json:
        rows = [
            {name: getattr(device, name) for name in _ATTRIBUTES} | _driver(device) | {"chosen": device in chosen}
            for device in usable
        ]
        show_json({"devices": rows, "left_out": lacking})
        return
    if usable:
        _show(usable, chosen)
        first = {device.platform: device for device in reversed(usable)}  # of each platform
        for device in reversed(first.values()):
            driver = _driver(device)
            say(f"Driver of {device.platform}: {driver['driver_file'] or 'file not known'} ({driver['registered']})")
    else:
        say("No OpenCL device found. Plans use the solver clpso-sequential or lshade-sequential, on all CPU cores.")
    for each in lacking:
        say(f"Not usable: {each}")


#: What JSON says of a device.
_ATTRIBUTES = (
    *("index", "platform", "name", "kind", "driver", "version", "compute_units", "max_work_group_size"),
    *("local_memory_bytes", "global_memory_bytes", "max_allocation_bytes", "native_float_width", "sub_group_size"),
)


def _driver(device: DeviceInfo) -> dict[str, str]:
    """In which file the driver lies, and how it was registered: by the system where that cannot be told."""
    from reservoir.opencl.drivers import SYSTEM, driver_of

    driver = driver_of(device.device.platform)
    return {
        "driver_file": driver.library if driver else "",
        "icd_file": driver.file if driver else "",
        "registered": driver.registered if driver else SYSTEM,
    }


def _show(devices: list[DeviceInfo], chosen: tuple[DeviceInfo, ...]) -> None:
    from rich.markup import escape

    from reservoir.cli.screen import Column, show_table

    numbers = ("index", "units", "memory, GiB")
    titles = ("", "index", "platform", "device", "kind", "driver", "units", "memory, GiB")
    columns = [Column(title, "right" if title in numbers else "left") for title in titles]
    rows = []
    for device in devices:
        memory = f"{device.global_memory_bytes / 2**30:.1f}"
        words = map(escape, (device.platform, device.name, device.kind, device.driver))
        chosen_mark = "*" if device in chosen else ""
        rows.append((chosen_mark, str(device.index), *words, str(device.compute_units), memory))
    show_table(columns, rows, caption="* default device")
