"""`python -m banyan` is `banyan`."""

from .cli.start import main

main()
