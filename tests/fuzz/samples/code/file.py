"""Bridges."""


class Bridge:
    """Of iron."""

    def built(self):
        return 1911
