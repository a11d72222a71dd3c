"""Work beside a block: done when the block ends, and nobody's fault."""

import threading
from functools import partial

from reservoir.solvers.engine import meanwhile


def test_work_is_done_beside_a_block_which_waits_for_it() -> None:
    begun, go_on, done = threading.Event(), threading.Event(), []

    def work() -> None:
        begun.set()
        assert go_on.wait(10)
        done.append("work")

    with meanwhile(work):
        assert begun.wait(10)
        assert not done
        go_on.set()
    assert done == ["work"]


def test_its_faults_are_left_to_who_needs_the_result() -> None:
    with meanwhile(lambda: 1 / 0):
        pass


def test_work_with_a_name_is_done_once() -> None:
    done: list[str] = []
    for name in ("first", "first", "second"):
        with meanwhile(partial(done.append, name), once=("test_meanwhile", name)):
            pass
    assert done == ["first", "second"]
