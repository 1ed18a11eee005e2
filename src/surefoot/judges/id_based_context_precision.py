"""ID-based context precision, as RAGAS has it: no text is read."""

from surefoot.judges._diamond import built_in
from surefoot.judges._scores import BaseJudge, Finding, Unscored
from surefoot.types import Record


class IDBasedContextPrecision(BaseJudge):
    """The share of the ids retrieved that are among those of the passages that hold the answer.

    Each id counts once, whatever its place. Cost: nothing.
    """

    about = built_in()["id_based_context_precision"]
    recalls = False
    """True: the share of the passages that hold the answer, in place of those retrieved."""

    def find(self, record: Record) -> Finding:
        """It applies where the record has `reference_ids`, and ids of what was retrieved."""
        found = record.trace.passages if record.trace else record.contexts or ()
        retrieved = {*(record.context_ids or _named([passage.id for passage in found]))}
        if not record.reference_ids:
            raise Unscored("the record does not say which passages hold the answer", applies=False)
        if not retrieved:
            raise Unscored("the record has no ids of what was retrieved", applies=False)
        wanted = {*record.reference_ids}
        here, of = len(retrieved & wanted), len(wanted if self.recalls else retrieved)
        ending = "passages that hold the answer were found" if self.recalls else "passages retrieved hold the answer"
        return Finding(here / of, f"{here} of {of} {ending}, by their ids")


def _named(ids: list[str]) -> tuple[str, ...]:
    """The ids, one for all parts of a passage; none where one of them is but a place, such as "c1"."""
    places = (f"c{place}" for place in range(1, len(ids) + 1))
    return () if any(map(str.__eq__, ids, places)) else tuple(id for id in ids if id.rpartition("#")[0] not in ids)
