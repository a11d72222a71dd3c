"""All that proofs run is compiled ahead of them, in time that is not theirs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

#: How many forms of each function are compiled, or loaded: before all, ahead of a proof, and after it.
PROOF = """
import json, sys
import numpy as np
from numba.core.dispatcher import Dispatcher
from reservoir.certificate.bound import prove_bound
from reservoir.certificate.bound import compile_ahead
from reservoir.certificate.bound import Known
from tests.certificate.cases import problems_of
from tests.hydro.random_reservoirs import random_reservoir
from tests.year_ends import {end}

def compiled():
    modules = [module for name, module in sys.modules.items() if name.startswith("reservoir.")]
    found = [each for module in modules for each in vars(module).values() if isinstance(each, Dispatcher)]
    return sum(len(each.signatures) for each in set(found))

year = problems_of({end}(random_reservoir(1)))[0]
known = Known(year, np.full(year.limits.steps + 1, float(np.mean(year.limits.start_bounds_hm3))), None)
counted = [compiled()]
compile_ahead([known])
counted.append(compiled())
proved = prove_bound(*known)
counted.append(compiled())
print(json.dumps([*counted, proved.levels]))
"""


@pytest.mark.parametrize("end", ["free", "cyclic"])
def test_a_proof_compiles_nothing_that_was_not_compiled_ahead(end):
    run = [sys.executable, "-c", PROOF.format(end=end)]
    before, ahead, after, levels = json.loads(subprocess.run(run, capture_output=True, check=True, text=True).stdout)
    assert levels > 1
    assert before < ahead == after
