"""A table: Arrow when it is asked for, pandas and Polars from that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

import pyarrow as pa

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


class Table:
    """One table, read when its content is first asked for.

    Every program that reads Arrow takes it as it is: `polars.DataFrame(table)`, or `FROM t` in DuckDB after
    `t = table.arrow()`.
    """

    def __init__(self, name: str, about: str, read: Callable[[], pa.Table], columns: dict[str, str]) -> None:
        self.name = name
        self.about = about
        #: What each column means, by its name.
        self.columns = columns
        self._read = read

    def arrow(self) -> pa.Table:
        """As the engine wrote it: whole numbers are int64, null is "not recorded"."""
        return self._read()

    def df(self) -> pd.DataFrame:
        """As pandas: whole numbers stay whole (`Int64`, which knows missing values), maps are dicts."""
        return to_pandas(self.arrow())

    def polars(self) -> pl.DataFrame:
        import polars

        frame: pl.DataFrame = polars.from_arrow(self.arrow())
        return frame

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.arrow().__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return int(self.arrow().num_rows)

    def __repr__(self) -> str:
        return "<stepscope.Table %s: %s>" % (self.name, self.about)


def to_pandas(table: pa.Table) -> pd.DataFrame:
    import pandas as pd

    # As categories, a sum by name would list names that no row has, with 0.
    plain = pa.schema(
        [
            field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
            for field in table.schema
        ]
    )
    kinds = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
    frame: pd.DataFrame = table.cast(plain).to_pandas(types_mapper=kinds.get, maps_as_pydicts="strict")
    return frame
