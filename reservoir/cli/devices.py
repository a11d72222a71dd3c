"""``reservoir devices``: list the OpenCL devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from reservoir.cli import options

if TYPE_CHECKING:
    from reservoir.opencl import DeviceInfo


@click.command("devices")
@options.json
@options.debug
def command(as_json: bool) -> None:
    """List the OpenCL devices, their drivers, the default device, and what is installed but cannot be used.

    Choose a device by its index or a part of its name, with --device or the environment variable RESERVOIR_DEVICE.
    """
    from reservoir.cli.screen import show_json
    from reservoir.cli.streams import say
    from reservoir.opencl import choose_devices, left_out, list_devices
    from reservoir.opencl.trial import forget_refusals

    forget_refusals()
    found = list_devices()
    lacking = [str(mistake) for mistake in left_out()]
    chosen = choose_devices("auto") if found else ()
    if as_json:
        rows = [_row(device) | _driver(device) | {"chosen": device in chosen} for device in found]
        show_json({"devices": rows, "left_out": lacking})
        return
    if found:
        _show(found, chosen)
        for device in _one_of_each_platform(found):
            driver = _driver(device)
            say(f"Driver of {device.platform}: {driver['driver_file'] or 'file not known'} ({driver['registered']})")
    else:
        say("No OpenCL device found. Plans use the solver clpso-sequential or lshade-sequential, on all CPU cores.")
    for each in lacking:
        say(f"Not usable: {each}")


def _row(device: DeviceInfo) -> dict[str, Any]:
    names = ("index", "platform", "name", "kind", "driver", "version", "compute_units", "max_work_group_size")
    sizes = (
        "local_memory_bytes",
        "global_memory_bytes",
        "max_allocation_bytes",
        "native_float_width",
        "sub_group_size",
    )
    return {name: getattr(device, name) for name in (*names, *sizes)}


def _one_of_each_platform(found: list[DeviceInfo]) -> list[DeviceInfo]:
    return list({device.platform: device for device in reversed(found)}.values())[::-1]


def _driver(device: DeviceInfo) -> dict[str, str]:
    """In which file the driver lies, and how it was registered: by the system where that cannot be told."""
    from reservoir.opencl.drivers import SYSTEM, driver_of

    driver = driver_of(device.device.platform)
    return {
        "driver_file": driver.library if driver else "",
        "icd_file": driver.file if driver else "",
        "registered": driver.registered if driver else SYSTEM,
    }


def _show(found: list[DeviceInfo], chosen: tuple[DeviceInfo, ...]) -> None:
    from rich.markup import escape

    from reservoir.cli.screen import Column, show_table

    numbers = ("index", "units", "memory, GiB")
    titles = ("", "index", "platform", "device", "kind", "driver", "units", "memory, GiB")
    columns = [Column(title, "right" if title in numbers else "left") for title in titles]
    rows = []
    for device in found:
        memory = f"{device.global_memory_bytes / 2**30:.1f}"
        words = map(escape, (device.platform, device.name, device.kind, device.driver))
        chosen_mark = "*" if device in chosen else ""
        rows.append((chosen_mark, str(device.index), *words, str(device.compute_units), memory))
    show_table(columns, rows, caption="* default device")
