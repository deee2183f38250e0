class PyExecutor:
    def __init__(self):
        self.iter_counter = 40
        self.is_warmup = False

    def _forward_step(self, scheduled_requests, new_tensors_device=None):
        return "outputs"

    def _sample_async(self, scheduled_batch, batch_outputs):
        return "sampled"

    def run_pass(self, scheduled):
        outputs = self._forward_step(scheduled)
        self._sample_async(scheduled, outputs)
        self.iter_counter += 1
