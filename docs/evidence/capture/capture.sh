#!/usr/bin/env bash
# A capture of Python, planned by stepscope capture.
#   -o trace: the report, as .nsys-rep
#   -f true: overwrites an older one
#   -t cuda,nvtx: what to record, and nothing else
#   -c cudaProfilerApi: waits until the engine opens the range
#   --capture-range-end=stop: the program runs on; without it nsys ends the program with the range
#   --cuda-graph-trace=node: kernels inside CUDA graphs one by one; the default hides them
#   --trace-fork-before-exec=true: follows workers that are forked
#   -s none: no CPU samples: they slow the host and swell the report
#   --cpuctxsw=none: no thread switches: they alone bring 2 GB of symbols along
#   PYTHONPATH=agent: loads the agent into the program
#   STEPSCOPE_PROFILE_START_STOP=12-20: the steps to record, both ends included
#   STEPSCOPE_MARKERS=step: ranges by which steps, phases and batches are told
# note: 9 steps are too few for percentiles and rare stalls. Capture 20 to 100.
set -euo pipefail
shopt -s nullglob

nsys=nsys
if ! command -v "$nsys" >/dev/null; then
  echo "nsys was not found: install Nsight Systems, or put it into PATH." >&2
  exit 127
fi
# The reports that are there.
look() {
  local file
  reports=()
  for file in trace.nsys-rep; do
    if [[ -e $file ]]; then reports+=("$file"); fi
  done
}

export PYTHONPATH=agent"${PYTHONPATH:+:$PYTHONPATH}"
export STEPSCOPE_PROFILE_START_STOP=12-20
export STEPSCOPE_MARKERS=step
command=(
  nsys
  profile
  -o
  trace
  -f
  true
  -t
  cuda,nvtx
  -c
  cudaProfilerApi
  --capture-range-end=stop
  --cuda-graph-trace=node
  --trace-fork-before-exec=true
  -s
  none
  --cpuctxsw=none
  python3
  docs/evidence/capture/engine.py
)

status=0
"${command[@]}" || status=$?

look
if (( ${#reports[@]} == 0 )); then
  raw=(trace.qdstrm)
  for file in "${raw[@]}"; do
    if [[ -e $file ]]; then
      echo "nsys left $file as it is, without its importer: install the whole Nsight Systems and run QdstrmImporter on it." >&2
      exit 1
    fi
  done
  # nsys says nothing about a range that never opened.
  echo "No report was written: the capture range was never opened, or the program ended first." >&2
  exit 1
fi
for report in "${reports[@]}"; do
  "$nsys" export --type sqlite --force-overwrite true -o "${report%.nsys-rep}.sqlite" "$report"
  echo "wrote $report and ${report%.nsys-rep}.sqlite" >&2
done
exit "$status"
