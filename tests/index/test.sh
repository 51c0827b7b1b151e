#!/bin/sh
# Index equations and calls, compared with numpy.
cd "$(dirname "$0")" || exit 1
status=0
/usr/bin/python3 -B oracle.py || status=1
/usr/bin/python3 -B calls.py || status=1
exit $status
