class ModelRunner:
    def forward(self, forward_batch, skip_attn_backend_init=False):
        return "logits"

    def sample(self, logits_output, forward_batch):
        return [1]
