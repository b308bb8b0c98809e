"""`rook schema`: the shape of what `rook decode` prints."""

import click
import msgspec

from rookery.model.records import schema


@click.command("schema", epilog="Example:  rook schema > record.schema.json")
def command() -> None:
    """Print the JSON Schema of a record, as `rook decode` writes one on each line."""
    click.echo(msgspec.json.format(msgspec.json.encode(schema()), indent=2))
