"""``python -m spectralcit``: the command line, where no program of that name is on the path."""

from .cli import app

app(prog_name="python -m spectralcit")
