import unittest

from stepscope_agent.windows import Window, parse_windows


class Windows(unittest.TestCase):
    def test_ranges_lists_and_single_numbers(self) -> None:
        self.assertEqual(parse_windows("10-15, 30-35,40"), [Window(10, 15), Window(30, 35), Window(40, 40)])
        self.assertEqual(parse_windows(""), [])

    def test_sorted_and_joined_where_they_overlap(self) -> None:
        self.assertEqual(parse_windows("20-30,5-8,25-40"), [Window(5, 8), Window(20, 40)])
        self.assertEqual(parse_windows("1-10,2-3"), [Window(1, 10)])
        # Adjacent windows stay separate: each gets its own file.
        self.assertEqual(parse_windows("1-2,3-4"), [Window(1, 2), Window(3, 4)])

    def test_what_is_no_range_is_refused_by_name(self) -> None:
        for text in ("a", "1-", "-5", "1-x", "1.5"):
            with self.assertRaisesRegex(ValueError, "is not a range of iterations"):
                parse_windows(text)
        with self.assertRaisesRegex(ValueError, "ends before it begins"):
            parse_windows("9-3")
