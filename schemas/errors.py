"""The base of all errors that a user can mend."""


class BanyanError(Exception):
    """Something that is not a defect of Banyan; its message names the thing, the cause and the mend."""
