from types import SimpleNamespace


def get_parallel():
    return SimpleNamespace(moe_ep_size=1, moe_ep_rank=0, tp_rank=0)
