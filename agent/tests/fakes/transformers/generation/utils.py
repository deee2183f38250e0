import torch


class LogitsProcessorList(list):
    def __call__(self, input_ids, scores):
        return scores


class GenerationMixin:
    @torch.no_grad()
    def generate(self, input_ids, max_new_tokens=4):
        processors = LogitsProcessorList()
        new = input_ids
        for _ in range(max_new_tokens):
            scores = processors(input_ids, self(new)[:, -1])
            new = scores.argmax(-1, keepdim=True)
            input_ids = torch.cat([input_ids, new], -1)
        return input_ids
