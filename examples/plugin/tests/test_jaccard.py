from surefoot_jaccard import Jaccard

from surefoot import components
from surefoot.contracts import verify


def test_it_keeps_the_contract_of_its_role():
    """Surefoot's own suite for evaluators passes over it."""
    verify("evaluator", Jaccard())


def test_it_is_found_by_its_name():
    """Its entry point makes `use = "jaccard"` work."""
    assert components.find("evaluator", "jaccard") is Jaccard
