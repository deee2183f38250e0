"""`generate` of transformers behind an OpenAI completions endpoint: waits for a batch of requests, answers them together.

    transformers_server.py --model configs/llama8b --port 8031 --batch 8

Random weights; a prompt stands for `--input` tokens. Each token is streamed when it is there.
"""

import argparse
import json
import queue
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

parser = argparse.ArgumentParser()
parser.add_argument("--model", required=True)
parser.add_argument("--port", type=int, default=8031)
parser.add_argument("--batch", type=int, default=8)
parser.add_argument("--input", type=int, default=128)
asked = parser.parse_args()
waiting: "queue.Queue[dict]" = queue.Queue()


class Server(ThreadingHTTPServer):
    request_queue_size = 128


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_args):
        pass

    def answer(self, document):
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/v1/models":
            self.answer({"object": "list", "data": [{"id": "m", "object": "model", "owned_by": "transformers"}]})
        else:
            self.answer({"status": "ok"})

    def do_POST(self):
        asked_for = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        request = {"tokens": int(asked_for.get("max_tokens", 128)), "answers": queue.Queue()}
        waiting.put(request)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for count in range(1, request["tokens"] + 1):
            request["answers"].get()
            last = count == request["tokens"]
            chunk = {"object": "text_completion", "choices": [{"index": 0, "text": " a", "finish_reason": "length" if last else None}]}
            if last:
                chunk["usage"] = {"prompt_tokens": asked.input, "completion_tokens": count, "total_tokens": asked.input + count}
            self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True


def main():
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, StoppingCriteria

    config = AutoConfig.from_pretrained(asked.model)
    torch.manual_seed(0)
    with torch.device("cuda"):
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).eval()
    model.generation_config.eos_token_id = None

    class Stream(StoppingCriteria):
        def __init__(self, batch):
            self.batch = batch

        def __call__(self, ids, scores, **_):
            done = ids.shape[1] - asked.input
            for request in self.batch:
                if done <= request["tokens"]:
                    request["answers"].put(done)
            return torch.zeros(ids.shape[0], dtype=torch.bool, device=ids.device)

    def run(batch):
        ids = torch.randint(10, config.vocab_size - 10, (len(batch), asked.input), device="cuda")
        longest = max(request["tokens"] for request in batch)
        with torch.inference_mode():
            model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=longest,
                do_sample=False,
                pad_token_id=0,
                stopping_criteria=[Stream(batch)],
            )

    run([{"tokens": 4, "answers": queue.Queue()} for _ in range(asked.batch)])
    server = Server(("127.0.0.1", asked.port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print("serving", flush=True)
    while True:
        batch = [waiting.get()]
        until = time.monotonic() + 0.3
        while len(batch) < asked.batch:
            try:
                batch.append(waiting.get(timeout=max(0, until - time.monotonic())))
            except queue.Empty:
                break
        run(batch)


if __name__ == "__main__":
    main()
