"""What is no failure of the interface: a few requests refused during an election, which any cluster may have.

Such a refusal says that it passes, by 503 or 504. A cluster that gives many of them has another problem, so only so many
are let through.
"""

import threading

import schemathesis

STATUSES = (503, 504)
PASSING_MAX = 20

_lock = threading.Lock()
_passing = set()


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Whether the failure counts."""
    if response.status_code not in STATUSES:
        return True
    with _lock:
        _passing.add(case.id)
        return len(_passing) > PASSING_MAX
