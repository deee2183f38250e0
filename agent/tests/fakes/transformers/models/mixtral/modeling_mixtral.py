from models import MixtralTopKRouter as _Router


class MixtralTopKRouter(_Router):
    def forward(self, x):
        return super().forward(x)
