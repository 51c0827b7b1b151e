"""Each function below `@test` is one test: it prints `ok NAME`, or `not ok NAME` with what was raised."""

import sys
import time
import traceback

failed = []
only = sys.argv[1:]


def test(f):
    if only and f.__name__ not in only:
        return f
    begun = time.perf_counter()
    try:
        f()
        print(f"ok python {f.__name__}", flush=True)
    except BaseException:
        failed.append(f.__name__)
        print(f"not ok python {f.__name__} after {time.perf_counter() - begun:.1f} s")
        print("".join("    " + line + "\n" for line in traceback.format_exc().splitlines()), end="", flush=True)
    return f


def raises(kind, part, f, *args, **named):
    """What is raised, if it is of this kind and has this text in it."""
    try:
        f(*args, **named)
    except kind as error:
        assert part in str(error), f"{part!r} is not in {error}"
        return error
    raise AssertionError(f"nothing was raised, where {kind.__name__} with {part!r} was wanted")
