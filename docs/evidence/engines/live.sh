#!/usr/bin/env bash
# A server under nsys and the agent, recording nothing; load without a profiler three times; a live window while load
# runs, opened by touching a file; then everything in one `stepscope analyze`.
# Usage: live.sh NAME OUT PORT COMMAND…
# NSYS and AGENT name nsys and the agent's folder; stepscope is on PATH. REQUESTS, DURING: requests of each load;
# AFTER: seconds of the last load before the window; BENCH: a benchmark of the engine's own.
set -u
name=$1 out=$2 port=$3
shift 3
work=$(mktemp -d)
cd "$work" || exit 1
export STEPSCOPE_TRIGGER=$work/trigger STEPSCOPE_MARKERS=${MARKERS:-step} STEPSCOPE_SIDECAR=$work/$name.agent.json
PYTHONPATH=$AGENT${PYTHONPATH:+:$PYTHONPATH} "$NSYS" profile -o "$work/$name" -t cuda,nvtx -c cudaProfilerApi \
  --capture-range-end=stop --kill=none --cuda-graph-trace=node --trace-fork-before-exec=true -s none --cpuctxsw=none \
  "$@" >"$out/$name.server.log" 2>&1 &
server=$!
unset STEPSCOPE_TRIGGER STEPSCOPE_MARKERS STEPSCOPE_SIDECAR
url=http://127.0.0.1:$port
answers() { python3 -c "import urllib.request as u; u.urlopen('$url/health', timeout=2)" 2>/dev/null; }
until answers; do
  kill -0 "$server" 2>/dev/null || { tail -20 "$out/$name.server.log"; exit 1; }
  sleep 1
done
load() { # NAME REQUESTS
  stepscope load "$url" --levels concurrent:8 --requests "$2" --warmup "${WARMUP:-8}" --input-tokens 128 --output-tokens 128 --force -o "$1" >"$1.txt" 2>&1 || tail -3 "$1.txt"
}
load warm.json 8
for run in 1 2 3; do load "$out/$name.load-$run.json" "${REQUESTS:-32}"; done
if [ -n "${BENCH:-}" ]; then (cd "$work" && eval "$BENCH") >"$out/$name.bench.log" 2>&1; fi
(sleep "${AFTER:-1.2}"; echo 20 >"$work/trigger") &
load "$out/$name.load-during.json" "${DURING:-64}"
load after.json 16
# The range ends with the window, and nsys writes while the server goes on.
for _ in $(seq 80); do [ -s "$work/$name.nsys-rep" ] && break; sleep 0.5; done
sleep 1
# The server and its workers, wherever nsys put them, but not nsys.
for process in /proc/[0-9]*; do
  grep -qsz "^STEPSCOPE_TRIGGER=$work/" "$process/environ" || continue
  case $(readlink "$process/exe") in *nsys* | *nsight*) ;; *) kill -TERM "${process#/proc/}" ;; esac
done
for _ in $(seq 60); do kill -0 "$server" 2>/dev/null || break; sleep 0.5; done
kill -9 -- "$server" 2>/dev/null
"$NSYS" export -t sqlite -f true -o "$work/$name.sqlite" "$work/$name.nsys-rep" >/dev/null 2>&1
ls -la "$work"
cp "$work"/*.agent.json "$out/" 2>/dev/null
cp "$work"/*.load.json "$out/" 2>/dev/null
stepscope analyze "$work/$name.sqlite" "$work"/*.agent.json "$out/$name.load-2.json" >"$out/$name.page.txt" 2>&1
head -40 "$out/$name.page.txt"
stepscope analyze "$work/$name.sqlite" "$work"/*.agent.json "$out/$name.load-during.json" --only requests,engine-state >"$out/$name.requests.txt" 2>&1
head -60 "$out/$name.requests.txt"
gzip -6c "$work/$name.sqlite" >"$out/$name.sqlite.gz"
