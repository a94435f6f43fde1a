"""The one exception that is shown to the person at the keyboard without a traceback."""


class LatimerError(Exception):
    """A mistake that the person at the keyboard can mend; its text is the whole message."""
