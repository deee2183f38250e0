class Scheduler:
    def __init__(self, runner):
        self.runner = runner

    def run_batch(self, batch, pp_proxy_tensors=None):
        return self.runner.forward(batch)
