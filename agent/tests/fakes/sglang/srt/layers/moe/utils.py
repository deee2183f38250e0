from types import SimpleNamespace


def get_moe_a2a_backend():
    return SimpleNamespace(is_none=lambda: True)
