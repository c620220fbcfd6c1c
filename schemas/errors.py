"""The base class of all errors that a user can fix."""


class BanyanError(RuntimeError):
    """An error that is not a defect of Banyan; its message names the thing, the cause and the fix.

    It is a RuntimeError, because LangGraph's server hides the messages of custom exceptions.
    """
