"""Inflow records: tables of services and spreadsheets, ensembles, NetCDF -> `Inflow`, or a refusal with every mistake.

Where a form that is not read yet is added: its words in headers and cells, and spellings of units, to
``data/words.toml`` (sizes of units stand in `reservoir.hydro.units`); how it writes a date, to the forms of ``dates``;
a code in the place of a value, to those of ``cells``; a quantity beside the inflow, to ``COMPANIONS`` of ``columns``;
its encoding, sheets and lines that are no data, to ``table``; rows of names, units and means around the data, and
footnotes, to ``heading``; another order of rows and columns, to ``layouts``, of days by months to ``day_tables``.
Which sheet and which rows are the record, ``choice`` says. ``reader`` chooses among them.
"""
