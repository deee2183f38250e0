"""Runs a command and writes its run time and peak memory to descriptor 3.

usage: peer.py LIMIT_SECONDS COMMAND ARGUMENTS…

The peak is that of the largest process of the command, so that pages shared by forked children count only once. Time
is measured here, so that the start of this script does not count.
"""
import json
import os
import resource
import subprocess
import sys
import time

limit, command = float(sys.argv[1]), sys.argv[2:]
begun = time.perf_counter()
stopped = False
status = 0
try:
    quiet = subprocess.DEVNULL
    status = subprocess.run(command, stdin=quiet, stdout=quiet, stderr=quiet, timeout=limit).returncode
except subprocess.TimeoutExpired:
    stopped = True
result = {
    "seconds": time.perf_counter() - begun,
    "peakBytes": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024,
    "stopped": stopped,
}
os.write(3, json.dumps(result).encode())
sys.exit(status)
