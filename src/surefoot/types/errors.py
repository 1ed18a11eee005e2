"""Everything that Surefoot raises on purpose.

    SurefootError
    ├── UsageError       the user can mend it: ConfigError (UnagreedCode, UnagreedEndpoint), QuestionError,
    │                    FieldFault, IndexFault, TraceFault, MissingExtra
    ├── Cancelled
    └── ComponentError   a part failed at work: ModelError, EndpointError, ContextOverflow, OverBudget,
                         NetworkError, SearchError (Throttled)

Errors of libraries are turned into these where the library is called, never elsewhere.
"""


class SurefootError(Exception):
    """Base of all: its text is one line that says what happened, with what, and what to do."""


class UsageError(SurefootError):
    """The user can mend it."""


class ConfigError(UsageError):
    """A setting that does not exist or does not fit; each argument is one fault, and there may be several."""

    def __str__(self) -> str:
        return "; ".join(map(str, self.args))


class UnagreedCode(ConfigError):
    """A configuration file names code that its user has not agreed to import."""


class UnagreedEndpoint(ConfigError):
    """A configuration file names `endpoints`, of which its user has not agreed that anything is sent there."""

    def __init__(self, message: str, endpoints: tuple[tuple[str, str], ...]) -> None:
        super().__init__(message)
        self.endpoints = endpoints


class QuestionError(UsageError):
    """An empty or an over-long question."""


class FieldFault(UsageError):
    """A document's fields, or a filter over them, that cannot be kept."""


class IndexFault(UsageError):
    """No index there, a damaged one, or one of another version."""


class TraceFault(UsageError):
    """A file that is not a trace, or one of another schema."""


class MissingExtra(UsageError):
    """An optional dependency that is not installed."""

    def __init__(self, what: str, extra: str, package: str = "surefoot") -> None:
        super().__init__(f"{what} needs an extra that is not installed; run: pip install '{package}[{extra}]'")


class Cancelled(SurefootError):
    """Nobody waits for the answer any more; the question ends without one."""


class ComponentError(SurefootError):
    """A part failed while it was at work; the pipeline takes its declared fallback."""


class ModelError(ComponentError):
    """A model file that is missing, damaged or does not load."""


class EndpointError(ComponentError):
    """A server that is down, slow, or answers what it should not."""

    def __init__(
        self, message: str, status: int | None = None, wait: float | None = None, reached: bool = True
    ) -> None:
        super().__init__(message)
        self.status = status
        """The HTTP status of its answer; None: no answer, or none that could be read."""
        self.lasting = status in (401, 402, 403, 404)
        """True: it refuses every request, since the key, the account, the address or the model's name is wrong."""
        self.reached = reached
        """True: it may have received the request, and worked on it."""
        self.wait = wait
        """Seconds to wait, as the server asks; None: it does not say."""


class ContextOverflow(ComponentError):
    """A prompt and its answer that do not fit into the context of a model."""


class OverBudget(ComponentError):
    """The budget of a question, or of a run, has too little left for the next call or step."""


class NetworkError(ComponentError):
    """Another machine: not allowed, not reached, too slow, too large, garbled."""


class SearchError(ComponentError):
    """A searcher that could not search."""


class Throttled(SearchError):
    """Its provider asks to wait, or its quota is spent."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait
        """Seconds to wait, as the provider asks; None: it does not say."""


def on_one_line(error: object, most: int = 300) -> str:
    """The text of a library's error, fit for a message of ours: on one line, cut; its kind where it has no text."""
    return " ".join(str(error).split())[:most] or type(error).__name__
