"""An attribute of a reservoir is a row of one table: ``python docs/examples/attribute.py``.

Here the row is added by a program, before it imports anything else; in the package it stands among the others in
`reservoir.hydro.attributes.ATTRIBUTES`.
"""

import reservoir.hydro.attributes as table

FISH = table.Attribute(
    "release.fish_m3s",  # section and key of a reservoir file, with the program's unit: fish_cfs works too
    "the flow for fish",
    table.FLOW_M3S,
    "fish_release_m3s",  # the field of `Reservoir`
    "fish release",  # the part of its digests
    table.Kind.BY_STEP,
    0.5,
)
before = [row.key for row in table.ATTRIBUTES].index("release.ramp_up_m3s")
table.ATTRIBUTES = (*table.ATTRIBUTES[:before], FISH, *table.ATTRIBUTES[before:])

if __name__ == "__main__":
    from dataclasses import replace

    import numpy as np

    import reservoir

    lake = reservoir.bundled_case().reservoir()
    print(replace(lake, fish_release_m3s=np.arange(12.0)).to_toml())
    try:
        replace(lake, fish_release_m3s=np.full(12, -1.0))
    except reservoir.InputError as refused:
        print(refused)
