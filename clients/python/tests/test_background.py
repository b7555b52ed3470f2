"""The timers of the background thread."""

from __future__ import annotations

import threading
from typing import Any

from quoin._io.threads import Background

UNUSED: Any = None


def test_a_cancelled_timer_leaves_nothing_behind() -> None:
    background = Background(UNUSED)
    fired: list[int] = []
    done = threading.Event()
    stops = [background.after(86_400_000, done.set) for _ in range(1_000)]

    def last() -> None:
        fired.append(1)
        done.set()

    later = [background.after(200, last), background.after(100, lambda: fired.append(0))]
    for stop in [*stops, *stops]:
        stop()
    assert len(background._timers) < 10
    assert done.wait(60)
    assert fired == [0, 1]
    for stop in later:
        stop()
    assert not background._timers
    background.close()
