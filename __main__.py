"""`python -m banyan` is `banyan`."""

from .cli import main

main()
