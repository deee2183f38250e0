import unittest

from stepscope_agent.layers import is_marked

EVERYTHING = frozenset(("layers", "attention", "mlp", "moe"))


class LayerNames(unittest.TestCase):
    def test_each_marker_has_its_modules(self) -> None:
        for name, marker in (
            ("model.layers.3", "layers"),
            ("transformer.h.0", "layers"),
            ("model.layers.3.self_attn", "attention"),
            ("model.layers.3.mlp", "mlp"),
            ("model.layers.3.mlp.experts", "moe"),
            ("model.layers.3.block_sparse_moe.gate", "moe"),
        ):
            self.assertTrue(is_marked(name, frozenset((marker,)), 0), name)
            self.assertFalse(is_marked(name, EVERYTHING - {marker}, 0), name)

    def test_other_modules_have_none(self) -> None:
        for name in ("model", "model.embed_tokens", "lm_head", "model.layers.3.self_attn.q_proj"):
            self.assertFalse(is_marked(name, EVERYTHING, 0), name)

    def test_depth_goes_below_layers(self) -> None:
        layers = frozenset(("layers",))
        self.assertTrue(is_marked("model.layers.3.input_layernorm", layers, 1))
        self.assertFalse(is_marked("model.layers.3.self_attn.q_proj", layers, 1))
        self.assertTrue(is_marked("model.layers.3.self_attn.q_proj", layers, 2))
