"""Compile the code of proofs before their time runs: on a machine's first proof that takes a minute or two."""

from __future__ import annotations

from collections.abc import Iterable

from reservoir.certificate.bound import Effort, ProvenBound, advanced, proof_of
from reservoir.certificate.paths import bound_pairs
from reservoir.certificate.proofs_together import Known
from reservoir.certificate.reachable import stages_to_prove
from reservoir.certificate.tables import cell_values


def compile_ahead(horizons: Iterable[Known], *, brackets: bool = True) -> None:
    """Compile all that proofs of horizons run, or load it, without proving anything.

    Parameters
    ----------
    horizons : iterable of Known
        The first that may have a schedule is gone through from the first cells to the second.
    brackets : bool
        Whether code that bounds brackets is compiled: most of all, which proofs on a device do without.
    """
    for known in horizons:
        stages = stages_to_prove(known.year.limits, known.year.penalty)
        proof = proof_of(known.year, stages, known.storages_hm3, None, Effort(), cell_values)
        told = advanced(proof)
        if isinstance(told, ProvenBound):
            continue
        cells, bounds = told
        advanced(proof, bounds.copy())  # as if every bracket were 0: paths, halves, and values of the second cells
        if brackets:
            bound_pairs(known.year.model.exact, stages, cells, bounds, 0, 1)
        return
