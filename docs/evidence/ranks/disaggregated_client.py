"""Sends each request to the context server for one token, then to the generation server, under one id; four at a time.

    disaggregated_client.py TRIGGER OUT
"""

import concurrent.futures
import json
import random
import sys
import time
import urllib.request
import uuid

CONTEXT, GENERATION = "http://127.0.0.1:8041", "http://127.0.0.1:8042"
COUNT, WARM, INPUT, OUTPUT = 40, 8, 512, 96


def post(base, identity, prompt, tokens):
    model = json.load(urllib.request.urlopen(base + "/v1/models", timeout=60))["data"][0]["id"]
    body = {"model": model, "prompt": prompt, "max_tokens": tokens, "ignore_eos": True, "temperature": 0}
    headers = {"Content-Type": "application/json", "X-Request-Id": identity}
    request = urllib.request.Request(base + "/v1/completions", json.dumps(body).encode(), headers)
    began = time.monotonic_ns()
    answer = json.load(urllib.request.urlopen(request, timeout=120))
    return began, time.monotonic_ns(), answer["id"]


def one(number):
    identity = uuid.uuid4().hex
    prompt = [random.Random(number).randrange(10, 100_000) for _ in range(INPUT)]
    context = post(CONTEXT, identity, prompt, 1)
    generation = post(GENERATION, identity, prompt, OUTPUT)
    return {"id": identity, "context": context, "generation": generation}


def wait_for(base, seconds=240):
    until = time.time() + seconds
    while time.time() < until:
        try:
            return urllib.request.urlopen(base + "/health", timeout=2)
        except OSError:
            time.sleep(1)
    raise SystemExit(base + " does not answer")


def main():
    trigger, out = sys.argv[1:]
    for base in (CONTEXT, GENERATION):
        wait_for(base)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(one, range(WARM)))
        running = [pool.submit(one, WARM + number) for number in range(COUNT)]
        time.sleep(2)
        with open(trigger, "w") as file:
            file.write("20")
        results = [each.result() for each in running]
    with open(out, "w") as file:
        json.dump(results, file)
    print("RESULT", len(results), "requests, first", results[0])


if __name__ == "__main__":
    main()
