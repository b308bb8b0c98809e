"""`rook schema`: the JSON Schema of a record."""

import sys

import click
import msgspec

from nightrook.cli.terminal.output import put_json
from nightrook.model.records import schema


@click.command("schema", epilog="\b\nExamples:\n  rook schema > record.schema.json")
def command() -> None:
    """Print the JSON Schema of a record, as `rook decode` writes one on each line."""
    put_json(sys.stdout, msgspec.json.format(msgspec.json.encode(schema()), indent=2))
