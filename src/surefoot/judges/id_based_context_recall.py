"""ID-based context recall, as RAGAS has it: no text is read."""

from surefoot.judges._diamond import built_in
from surefoot.judges.id_based_context_precision import IDBasedContextPrecision


class IDBasedContextRecall(IDBasedContextPrecision):
    """The share of the ids of passages that hold the answer that are among those retrieved.

    Each id counts once, whatever its place. Cost: nothing.
    """

    about = built_in()["id_based_context_recall"]
    recalls = True
