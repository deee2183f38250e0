"""Runs engines in waves: those of a wave load at the same time, then each measures alone. Used by the scripts here.

    conduct.py WAVES.json OUT [--budget SECONDS]

A wave is a list of runs: name, command, and `nsys` with the arguments of `nsys profile` where it is profiled by it.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

NSYS = os.environ.get("NSYS", "/opt/nvidia/nsight-compute/2025.3.1/host/target-linux-x64/nsys")
USUAL = "-c cudaProfilerApi --capture-range-end=repeat --trace-fork-before-exec=true -f true"
QUIET = "--sample=none --cpuctxsw=none"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("waves")
    parser.add_argument("out")
    parser.add_argument("--budget", type=float, default=540)
    asked = parser.parse_args()
    began = time.time()
    left = lambda: asked.budget - (time.time() - began)  # noqa: E731
    os.makedirs(asked.out, exist_ok=True)
    gate = tempfile.mkdtemp()
    exports = []
    say = lambda *words: print("%5.0f s" % (time.time() - began), *words, flush=True)  # noqa: E731
    for wave in json.load(open(asked.waves)):
        if left() < 60:
            say("no time left for", [run["name"] for run in wave])
            continue
        processes = {}
        for run in wave:
            command = [word.format(gate=gate, out=asked.out, name=run["name"]) for word in run["command"]]
            if "nsys" in run:
                report = os.path.join(asked.out, run["name"])
                flags = run["nsys"] if "--sample" in run["nsys"] else QUIET + " " + run["nsys"]
                command = [NSYS, "profile", *USUAL.split(), *flags.split(), "-o", report, *command]
            log = open(os.path.join(asked.out, run["name"] + ".log"), "w")
            processes[run["name"]] = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, env={**os.environ, **run.get("env", {})}
            )
        has = lambda what, name: os.path.exists(os.path.join(gate, what + "." + name))  # noqa: E731
        while any(not has("ready", name) and p.poll() is None for name, p in processes.items()) and left() > 40:
            time.sleep(0.5)
        say("ready:", [name for name in processes if has("ready", name)])
        for name, process in processes.items():
            if not has("ready", name):
                say("never ready:", name)
                process.terminate()
                continue
            open(os.path.join(gate, "go." + name), "w").close()
            while not has("done", name) and process.poll() is None and left() > 20:
                time.sleep(0.3)
            time.sleep(1.5)
            say("measured:", name)
        for name, process in processes.items():
            try:
                process.wait(timeout=max(1, min(60, left())))
            except subprocess.TimeoutExpired:
                say("still running:", name)
                process.kill()
            reports = sorted(f for f in os.listdir(asked.out) if f.startswith(name + ".") and f.endswith(".nsys-rep"))
            for file in reports:
                path = os.path.join(asked.out, file)
                sqlite = path[: -len(".nsys-rep")] + ".sqlite"
                script = '"%s" export -t sqlite --include-blobs=true -f true -o "%s" "%s" >/dev/null 2>&1 && gzip -9f "%s" && rm "%s"'
                exports.append(subprocess.Popen(["sh", "-c", script % (NSYS, sqlite, path, sqlite, path)]))
    for export in exports:
        export.wait()
    for file in sorted(os.listdir(asked.out)):
        say(file, os.path.getsize(os.path.join(asked.out, file)))
        if file.endswith(".log"):
            with open(os.path.join(asked.out, file), errors="replace") as log:
                lines = log.readlines()
            print("".join(line for line in lines if line.startswith("RESULT")))
            if not any(line.startswith("RESULT") for line in lines):
                print("".join(lines[-12:]))


if __name__ == "__main__":
    sys.exit(main())
