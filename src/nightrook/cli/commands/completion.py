"""`rook completion`: the script that teaches a shell to complete `rook`."""

import click
from click.shell_completion import get_completion_class

from nightrook.cli import main
from nightrook.cli.options.parameters import OneOf, argument

_SHELLS = ("bash", "fish", "zsh")
_EXAMPLES = """\b
Examples:
  eval "$(rook completion bash)"    in ~/.bashrc
  eval "$(rook completion zsh)"     in ~/.zshrc, after compinit
  rook completion fish > ~/.config/fish/completions/rook.fish
"""


@click.command("completion", epilog=_EXAMPLES)
@argument("shell", type=OneOf(_SHELLS))
def command(shell: str) -> None:
    """Print the script that makes a shell complete commands, options, agents, runs and profiles."""
    kind = get_completion_class(shell)
    assert kind is not None  # click has all of them
    made = kind(main.cli, {}, "rook", "_ROOK_COMPLETE")
    # Not its `source`: that one starts a bash to ask for its version.
    click.echo(made.source_template % made.source_vars(), nl=False)
