"""ID-based context precision, as RAGAS has it: no text is read."""

from surefoot.judges._diamond import built_in
from surefoot.judges._ids import SharedIds


class IDBasedContextPrecision(SharedIds):
    """The share of the ids retrieved that are among those of the passages that hold the answer.

    Each id counts once, whatever its place. Cost: nothing.
    """

    about = built_in()["id_based_context_precision"]
