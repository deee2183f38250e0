"""Runs a command and writes how long it took and how much memory it held to descriptor 3.

usage: peer.py LIMIT_SECONDS COMMAND ARGUMENTS…

The peak is that of the largest process the command started, itself included: a peer that forks is not charged twice
for the pages its children share with it. Time is taken here, so that starting this script is not charged to the peer.
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
