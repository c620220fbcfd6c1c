"""Panics of libraries that are written in Rust: failures that Python does not count among exceptions."""


def is_panic(error: BaseException) -> bool:
    """Return True for a panic of Rust's, which PyO3 raises as a BaseException of a class that it does not export."""
    return type(error).__name__ == "PanicException"
