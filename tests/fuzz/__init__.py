"""Random input for all that reads what others send: files, backups, and the requests of a server.

Each module has a class whose `round` tries some inputs drawn from a random generator, and raises an AssertionError
that says which input did harm. The same seed draws the same inputs. `make fuzz` runs them by the clock
(`benchmarks/fuzz.py`), the test suite a few rounds of each (`tests/integration/test_fuzz.py`).
"""
