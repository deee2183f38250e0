"""A small model in vLLM, without a GPU: three prompts, three times. The folder `tiny` holds a config.json of Llama."""

if __name__ == "__main__":
    from vllm import LLM, SamplingParams

    llm = LLM(
        model="tiny",
        load_format="dummy",
        skip_tokenizer_init=True,
        enforce_eager=True,
        max_model_len=256,
        dtype="bfloat16",
    )
    prompts = [{"prompt_token_ids": list(range(3, 3 + length))} for length in (20, 30, 40)]
    for _ in range(3):
        out = llm.generate(prompts, SamplingParams(max_tokens=8, ignore_eos=True, detokenize=False))
    print([len(answer.outputs[0].token_ids) for answer in out])
