"""The base of all errors that a user can fix."""


class BanyanError(RuntimeError):
    """Something that is not a defect of Banyan; its message names the thing, the cause and the fix.

    A RuntimeError, because LangGraph's server replaces the message of an exception of our own making
    by "An internal error occurred".
    """
