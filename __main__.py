"""`python -m banyan` is `banyan`."""

from .cli.main import main

main()
