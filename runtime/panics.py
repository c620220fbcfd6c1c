"""Panics of libraries written in Rust, which Python does not treat as exceptions."""


def is_panic(error: BaseException) -> bool:
    """Return True for a Rust panic, which PyO3 raises as a BaseException of a class that it does not export."""
    return type(error).__name__ == "PanicException"
