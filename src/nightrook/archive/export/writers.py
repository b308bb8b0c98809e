"""Writes a table as JSON lines, CSV or Parquet."""

import csv
from collections.abc import Iterator
from io import TextIOWrapper
from itertools import islice
from typing import IO, Literal

import msgspec

from nightrook.archive.export.tables import SCHEMA_VERSION, Row, Table
from nightrook.model.errors import NightrookError
from nightrook.model.text import encodable

Format = Literal["jsonl", "csv", "parquet"]

_BATCH = 10_000
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""What makes a spreadsheet run the text of a cell."""


class MissingLibraryError(NightrookError):
    """A library that an export needs is not installed."""


def write(table: Table, out: IO[bytes], written: Format) -> int:
    """Write all rows; return how many there were."""
    if written == "parquet":
        return _write_parquet(table, out)
    return _write_csv(table, out) if written == "csv" else _write_lines(table, out)


def _write_lines(table: Table, out: IO[bytes]) -> int:
    names = [column.name for column in table.columns]
    encoder = msgspec.json.Encoder()
    count = 0
    for row in table.rows:
        count += 1
        fields = dict(zip(names, _encodable(row), strict=True))
        out.write(encoder.encode(fields) + b"\n")
    return count


def _encodable(row: Row) -> Row:
    return tuple(encodable(cell) if isinstance(cell, str) else cell for cell in row)


def _write_csv(table: Table, out: IO[bytes]) -> int:
    text = TextIOWrapper(out, encoding="utf-8", errors="replace", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(column.name for column in table.columns)
    count = 0
    for row in table.rows:
        count += 1
        writer.writerow(_harmless(cell) if isinstance(cell, str) else cell for cell in row)
    text.flush()
    text.detach()
    return count


def _harmless(cell: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell.startswith(_FORMULAS) else cell


def _write_parquet(table: Table, out: IO[bytes]) -> int:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise MissingLibraryError(
            "Parquet needs pyarrow: pip install 'nightrook[parquet]', or use --jsonl or --csv"
        ) from error
    types = {"text": pa.string(), "integer": pa.int64(), "number": pa.float64()}
    fields = [pa.field(column.name, types[column.type]) for column in table.columns]
    metadata = {"nightrook_schema": str(SCHEMA_VERSION)}
    schema = pa.schema(fields, metadata=metadata)
    count = 0
    with parquet.ParquetWriter(out, schema, compression="zstd") as writer:
        for batch in _batches(table.rows):
            count += len(batch)
            columns = zip(*map(_encodable, batch), strict=True)
            arrays = [pa.array(c, type=f.type) for c, f in zip(columns, fields, strict=True)]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
    return count


def _batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while batch := list(islice(rows, _BATCH)):
        yield batch
