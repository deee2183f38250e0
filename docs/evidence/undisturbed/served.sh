#!/usr/bin/env bash
# A server under the script that `stepscope capture --script` wrote, with vLLM's own benchmark before, during and after
# the window. Usage: served.sh NAME GATE OUT CAPTURE_SCRIPT MODEL PORT
set -u
name=$1 gate=$2 out=$3 script=$4 model=$5 port=$6
folder=$(mktemp -d)
rm -rf /tmp/agent && cp -r agent /tmp/agent
cp "$script" "$folder/capture.sh"
cd "$folder" || exit 1
bash capture.sh >"$out/$name.server.log" 2>&1 &
server=$!
answers() { python3 -c "import urllib.request as u; u.urlopen('http://127.0.0.1:$port/health', timeout=2)" 2>/dev/null; }
until answers; do
  kill -0 "$server" 2>/dev/null || { tail -20 "$out/$name.server.log"; exit 1; }
  sleep 1
done
bench() { # NAME PROMPTS
  python3 -m vllm.entrypoints.cli.main bench serve --backend openai --base-url "http://127.0.0.1:$port" --endpoint /v1/completions \
    --model "$model" --tokenizer "$model" --dataset-name random --random-input-len 128 --random-output-len 128 \
    --num-prompts "$2" --max-concurrency 8 --ignore-eos --save-result --result-filename "$out/$name.$1.bench.json" 2>&1 | grep -E "TPOT|Output token throughput|failed|rror"
}
bench warm 8
touch "$gate/ready.$name"
while [ ! -e "$gate/go.$name" ]; do sleep 0.2; done
bench before 16
bench during 24
bench after 16
echo "RESULT $name"
cp ./*.agent.json "$out/" 2>/dev/null
touch "$gate/done.$name"
pkill -INT -f '[e]ntrypoints.cli.main serve'
for _ in $(seq 40); do kill -0 "$server" 2>/dev/null || break; sleep 0.5; done
for file in ./*.sqlite; do gzip -9c "$file" >"$out/$name.sqlite.gz"; done
cp ./*.agent.json "$out/"
