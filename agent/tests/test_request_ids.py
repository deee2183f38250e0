import unittest
from unittest import mock

from stepscope_agent import request_ids
from stepscope_agent.request_ids import IdTable, hash_of, ids_of


class Hashes(unittest.TestCase):
    def test_the_engine_and_its_client_name_a_request_alike(self) -> None:
        for seen_by_client, in_the_engine in (
            ("cmpl-2f3a9c0011223344", "cmpl-2f3a9c0011223344-0-1a2b3c4d"),
            ("chatcmpl-" + "0af7" * 8, "chatcmpl-" + "0af7" * 8),
            ("0af7" * 8, "0af7" * 8),
            (
                "123e4567-e89b-12d3-a456-426614174000",
                "cmpl-123e4567-e89b-12d3-a456-426614174000-0",
            ),
            ("mine", "mine"),
        ):
            self.assertEqual(hash_of(seen_by_client), hash_of(in_the_engine))
        self.assertNotEqual(hash_of("cmpl-2f3a9c0011223344"), hash_of("cmpl-2f3a9c0011223345"))

    def test_as_stepscope_load_hashes_it(self) -> None:
        """The same value is in test/requests.test.ts."""
        self.assertEqual(hash_of("cmpl-2f3a9c0011223344-0"), "572b3a89d36f")


class Tables(unittest.TestCase):
    def test_a_request_has_one_number(self) -> None:
        table = IdTable()
        self.assertEqual(table.of_step(ids_of(["a"], ["b", "c"])), [[0], [1, 2]])
        self.assertEqual(table.of_step(ids_of([], ["c", "a"])), [[], [2, 0]])
        self.assertIsNone(table.of_step(None))
        self.assertEqual(table.hashes(), [hash_of(name) for name in "abc"])

    def test_limits(self) -> None:
        with mock.patch.object(request_ids, "MOST_OF_A_STEP", 2):
            self.assertIsNone(ids_of(["a"], ["b", "c"]))
        with mock.patch.object(request_ids, "MOST_OF_A_FILE", 3):
            table = IdTable()
            self.assertIsNotNone(table.of_step(ids_of(["a"], ["b"])))
            self.assertIsNone(table.of_step(ids_of(["a"], ["b"])))
