#!/usr/bin/env bash
# Two vLLM servers on one GPU: one prefills, one decodes, the KV cache goes over files (vLLM's ExampleConnector). The
# agent is in both; a window of the generation server is recorded. Then one analyze follows the requests.
# Usage: disaggregated.sh MODEL OUT. NSYS and AGENT as in ../engines/live.sh.
set -u
model=$1 out=$2
work=$(mktemp -d)
here=$(cd "$(dirname "$0")" && pwd)
common="--load-format dummy --seed 0 --max-model-len 2048 --gpu-memory-utilization 0.3 --max-num-seqs 32 --no-enable-prefix-caching --attention-backend FLASH_ATTN --enforce-eager"
transfer='{"kv_connector":"ExampleConnector","kv_role":"kv_both","kv_connector_extra_config":{"shared_storage_path":"'$work'/kv"}}'
cd "$work" || exit 1
export PYTHONPATH=$AGENT${PYTHONPATH:+:$PYTHONPATH} STEPSCOPE_MARKERS=step
# shellcheck disable=SC2086
STEPSCOPE_SIDECAR=$work/context.agent.json vllm serve "$model" --port 8041 $common --kv-transfer-config "$transfer" >"$out/context.log" 2>&1 &
# shellcheck disable=SC2086
STEPSCOPE_TRIGGER=$work/trigger STEPSCOPE_SIDECAR=$work/generation.agent.json "$NSYS" profile -o "$work/generation" -t cuda,nvtx \
  -c cudaProfilerApi --capture-range-end=stop --kill=none --cuda-graph-trace=node --trace-fork-before-exec=true -s none --cpuctxsw=none \
  vllm serve "$model" --port 8042 $common --kv-transfer-config "$transfer" >"$out/generation.log" 2>&1 &
python3 "$here/disaggregated_client.py" "$work/trigger" "$out/client.json"
for _ in $(seq 60); do [ -s "$work/generation.nsys-rep" ] && break; sleep 0.5; done
sleep 1
for process in /proc/[0-9]*; do
  grep -qsz "^STEPSCOPE_SIDECAR=$work/" "$process/environ" || continue
  case $(readlink "$process/exe") in *nsys* | *nsight*) ;; *) kill -TERM "${process#/proc/}" ;; esac
done
sleep 8
"$NSYS" export -t sqlite -f true -o "$work/generation.sqlite" "$work/generation.nsys-rep" >/dev/null 2>&1
ls -la "$work"
cp "$work"/*.agent.json "$out/"
gzip -6c "$work/generation.sqlite" >"$out/generation.sqlite.gz"
stepscope analyze "$work/generation.sqlite" "$work/generation.agent.json" "$work/context.agent.json" --only handover
