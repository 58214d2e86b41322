"""`unselected completion`."""

from unselected.cli import app
from unselected.cli.first_commands import Shell
from unselected.cli.options import Speech


def completion(shell: Shell, /, *, speech: Speech) -> None:
    """Do what `unselected.cli.first_commands.completion` says."""
    script = app.generate_completion(shell=shell)
    speech.answer("completion", {"shell": shell, "script": script}, script)
