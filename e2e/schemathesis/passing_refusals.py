"""Tolerates a few refusals during an election, which can happen in any cluster and are not failures of the interface.

The status of such a refusal, 503 or 504, shows that it is temporary. A cluster with many of them has another problem, so
only a limited number is tolerated.
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
