"""A chart's numbers as CSV."""

from __future__ import annotations

from playground.presenters.charts import csv_text


def test_cells_are_quoted_where_they_need_to_be() -> None:
    assert csv_text(["reason", "nodes"], [['no "room", none', 3]]) == 'reason,nodes\r\n"no ""room"", none",3\r\n'


def test_no_text_becomes_a_formula_and_numbers_stay_numbers() -> None:
    assert csv_text(["a", "b"], [["=1+1", -1]]) == "a,b\r\n'=1+1,-1\r\n"
