"""A model that many ask at once: limits hold, refused calls wait, and a budget is not exceeded."""

import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from services.endpoint import endpoint
from surefoot.llms._rate_limited import CallRate, RateLimitedLLM, Stopped
from surefoot.llms.openai import OpenAI
from surefoot.llms.scripted import Scripted
from surefoot.run import cost
from surefoot.run.cost import Budget
from surefoot.types import Message
from surefoot.types.errors import ConfigError, EndpointError, OverBudget
from surefoot.types.llms import Prices, Spent

ASK = [Message("user", "Who built it?")]


class Failing:
    """Fails as it is told, then answers."""

    name = "failing"

    def __init__(self, *errors: EndpointError) -> None:
        self.errors = list(errors)
        self.schemas: list[object] = []

    def complete(self, messages: Sequence[Message], schema: object = None, **_: object) -> object:
        self.schemas.append(schema)
        if self.errors:
            raise self.errors.pop(0)
        return Scripted(["yes"]).complete(messages)


def refusal(wait: float | None = 0.01) -> EndpointError:
    return EndpointError("slow down", 429, wait)


def test_a_refused_call_is_made_again_as_often_as_it_takes() -> None:
    """Being asked to wait is no failure; it is counted."""
    llm = RateLimitedLLM(Failing(*[refusal()] * 9), retries=0)
    assert llm.complete(ASK).text == "yes"
    assert (llm.refused, llm.repeated) == (9, 0)
    assert llm.spending.spent.calls == 1


def test_a_refused_call_waits_as_long_as_it_is_asked_to() -> None:
    """Not longer than its patience lasts."""
    begun = time.monotonic()
    assert RateLimitedLLM(Failing(refusal(0.2))).complete(ASK).text == "yes"
    assert time.monotonic() - begun >= 0.2
    with pytest.raises(EndpointError, match="slow down"):
        RateLimitedLLM(Failing(refusal(30)), patience=1).complete(ASK)


def test_nothing_is_begun_by_a_run_that_has_stopped() -> None:
    """Neither what waits for its turn under a limit a minute, nor what comes then."""
    inner = Failing()
    llm = RateLimitedLLM(inner, requests_per_minute=1)
    llm.complete(ASK)
    begun = time.monotonic()
    with ThreadPoolExecutor(3) as pool:
        waiting = [pool.submit(llm.complete, ASK) for _ in range(3)]
        time.sleep(0.05)
        llm.stop()
    assert all(isinstance(one.exception(), Stopped) for one in waiting)
    assert time.monotonic() - begun < 30
    with pytest.raises(Stopped, match="run it again"):
        llm.complete(ASK)
    assert len(inner.schemas) == 1


def test_an_endpoint_that_wants_a_day_holds_nobody() -> None:
    """What it refuses fails at once, and so does the next; nothing sleeps until tomorrow."""
    llm = RateLimitedLLM(Failing(*[refusal(86_400)] * 20), patience=300)
    begun = time.monotonic()
    for _ in range(20):
        with pytest.raises(EndpointError, match="slow down"):
            llm.complete(ASK)
    assert llm.complete(ASK).text == "yes"
    assert time.monotonic() - begun < 60


def test_once_nobody_was_answered_for_so_long_nothing_is_tried_again() -> None:
    """A quota that is spent refuses all of them, and each would be patient for itself; an answer makes it so again."""
    inner = Failing(*[refusal(0.05)] * 100)
    llm = RateLimitedLLM(inner, patience=2.0)
    with pytest.raises(EndpointError):
        llm.complete(ASK)
    tried = len(inner.schemas)
    assert tried > 3
    with pytest.raises(EndpointError):
        llm.complete(ASK)
    assert len(inner.schemas) == tried + 1
    inner.errors = []
    llm.complete(ASK)
    inner.errors = [refusal(0.05)] * 3
    assert llm.complete(ASK).text == "yes"


@pytest.mark.parametrize("status", [None, 408, 500, 502])
def test_what_may_pass_is_tried_again(status: int | None) -> None:
    """So many times, and no more."""
    down = EndpointError("down", status, 0.0)
    llm = RateLimitedLLM(Failing(down, down), retries=2)
    assert llm.complete(ASK).text == "yes"
    assert llm.repeated == 2
    with pytest.raises(EndpointError, match="down"):
        RateLimitedLLM(Failing(down, down, down), retries=2).complete(ASK)


@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_will_not_pass_is_not_tried_again(status: int) -> None:
    """A wrong key stays wrong; it costs nothing."""
    inner = Failing(EndpointError("no", status))
    llm = RateLimitedLLM(inner)
    with pytest.raises(EndpointError):
        llm.complete(ASK)
    assert (len(inner.schemas), llm.spending.spent) == (1, Spent())


def test_after_three_lasting_refusals_in_a_row_nothing_more_is_asked() -> None:
    """By any of the threads that wait, and each says why; an answer in between begins the count anew."""
    wrong = EndpointError("no such key; check it", 401)
    assert RateLimitedLLM(Failing(wrong, wrong)).refusal is None
    mended = Failing(wrong, wrong)
    llm = RateLimitedLLM(mended)
    for _ in range(2):
        with pytest.raises(EndpointError):
            llm.complete(ASK)
    llm.complete(ASK)
    mended.errors = [wrong] * 99
    with ThreadPoolExecutor(1) as pool:
        errors = [call.exception() for call in [pool.submit(llm.complete, ASK) for _ in range(9)]]
    assert len(mended.schemas) == 3 + 3
    assert [type(one) for one in errors] == [EndpointError] * 3 + [Stopped] * 6
    assert str(errors[-1]) == str(llm.refusal)
    assert (
        str(llm.refusal) == "no such key; check it, and run it again; nothing more is asked after 3 refusals in a row"
    )


def test_the_first_call_goes_alone() -> None:
    """Until it is answered nobody knows whether the others will be: a wrong key costs three requests, not 64."""
    with endpoint(latency=0.02, refused=1.0, status=403) as server:
        llm = RateLimitedLLM(OpenAI("m", server.url, retries=0), in_flight=16)
        with ThreadPoolExecutor(16) as pool:
            calls = [pool.submit(llm.complete, [Message("user", str(n))]) for n in range(40)]
    assert all(call.exception() for call in calls)
    assert server.asked.total() == 3


def test_an_endpoint_without_schemas_is_asked_without_one_from_then_on() -> None:
    """Where it refuses the request, and takes it without."""
    inner = Failing(EndpointError("response_format is unknown", 400))
    llm = RateLimitedLLM(inner)
    for _ in range(2):
        assert llm.complete(ASK, {"type": "object"}).text == "yes"
    assert inner.schemas == [{"type": "object"}, None, None]


def test_a_call_that_hangs_costs_no_more_than_its_timeout_and_counts_against_the_budget() -> None:
    """It is made again; it may have been answered when nobody listened any more, and be paid. What never arrived is
    not."""
    with endpoint(hanging=1.0) as server:
        llm = RateLimitedLLM(OpenAI("m", server.url, retries=0), timeout=1, retries=5, budget=Budget(calls=2))
        begun = time.monotonic()
        with pytest.raises(OverBudget):
            llm.complete(ASK, max_tokens=50)
        assert 2 <= time.monotonic() - begun < 60
    assert server.told["hanging"] == 2
    assert (llm.spending.spent.calls, llm.spending.spent.output_tokens) == (2, 100)
    nowhere = RateLimitedLLM(OpenAI("m", server.url, retries=0), retries=1)
    with pytest.raises(EndpointError, match="cannot be reached"):
        nowhere.complete(ASK)
    assert nowhere.spending.spent == Spent()


def test_no_more_calls_are_in_flight_than_may_be() -> None:
    """However many threads ask."""
    with endpoint(latency=0.05) as server:
        llm = RateLimitedLLM(OpenAI("m", server.url, retries=0), in_flight=3)
        with ThreadPoolExecutor(12) as pool:
            list(pool.map(lambda n: llm.complete([Message("user", str(n))]), range(24)))
    assert server.peak == 3


def test_all_are_answered_by_an_endpoint_that_takes_fewer_at_a_time() -> None:
    """It takes 4, and 16 threads ask."""
    with endpoint(latency=0.2, most=4, retry_after="0") as server:
        llm = RateLimitedLLM(OpenAI("m", server.url, retries=0), in_flight=16)
        with ThreadPoolExecutor(16) as pool:
            said = list(pool.map(lambda n: llm.complete([Message("user", str(n))]).text, range(40)))
    assert len(said) == 40
    assert llm.refused > 0


def test_a_limit_a_minute_spaces_the_calls() -> None:
    """600 calls are one in 0.1 s."""
    pace, begun = CallRate(10, 600.0), time.monotonic()
    for _ in range(4):
        with pace.turn():
            pass
    assert 0.29 <= time.monotonic() - begun < 30


def test_a_budget_is_read() -> None:
    """Calls, tokens, or money."""
    texts = ("300 calls", "1 call", "2M tokens", "1.5k tokens", "0.50")
    found = [(budget.calls, budget.tokens, budget.money) for budget in map(Budget.read, texts)]
    assert found == [(300, None, None), (1, None, None), (None, 2e6, None), (None, 1500, None), (None, None, 0.5)]


def test_a_budget_of_calls_is_used_up_and_not_exceeded() -> None:
    """By twelve threads at once; then there is nothing more for any."""
    with endpoint(latency=0.01) as server:
        llm = RateLimitedLLM(OpenAI("m", server.url, retries=0), budget=Budget(calls=10))
        with ThreadPoolExecutor(12) as pool:
            calls = [pool.submit(llm.complete, [Message("user", str(number))]) for number in range(40)]
        errors = Counter(str(call.exception()) for call in calls if call.exception())
    assert errors == {"the budget of 10 calls is spent; run it again to go on": 30}
    assert (server.paid.total(), llm.spending.spent.calls) == (10, 10)


def test_a_budget_of_money_is_not_exceeded() -> None:
    """By what the tokens cost; it needs prices."""
    llm = RateLimitedLLM(Scripted(["yes"] * 99), prices=Prices(1e6, 2e6), budget=Budget(money=100))
    while llm.spending.spent.money < 80:
        llm.complete(ASK, max_tokens=5)
    with pytest.raises(OverBudget):
        llm.complete(ASK, max_tokens=50)
    assert 80 <= llm.spending.spent.money <= 100
    assert Prices(1e6, 2e6).of(3, 1) == 5
    with pytest.raises(ConfigError, match="needs prices"):
        RateLimitedLLM(Scripted([]), budget=Budget(money=1))


def test_tokens_are_guessed_where_nobody_counts() -> None:
    """About one in four characters."""
    assert cost.tokens([Message("user", "x" * 400)]) == pytest.approx(100, abs=10)
    assert cost.tokens([Message("user", "橋は誰が" * 100)]) == pytest.approx(300, abs=10)


def test_a_budget_reckons_with_the_thoughts_of_a_model() -> None:
    """They cost as much as an answer: nothing is asked that they may take beyond it."""
    with endpoint() as server:
        with pytest.raises(OverBudget):
            RateLimitedLLM(OpenAI("o3", server.url, retries=0), budget=Budget(tokens=2000)).complete(
                [Message("user", "?")]
            )
        RateLimitedLLM(OpenAI("m", server.url, retries=0), budget=Budget(tokens=2000)).complete(ASK)
    assert server.paid.total() == 1
