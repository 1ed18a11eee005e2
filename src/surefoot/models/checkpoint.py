"""Checkpoints of Hugging Face's transformers, opened without running code that they bring.

Weights are read from safetensors if there are any, else from a pickle by `torch.load(weights_only=True)`, which builds
tensors and calls nothing; `trust_remote_code` is never given.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import Annotated, Any
from urllib.parse import urlsplit

import torch
import transformers
from annotated_types import Ge
from huggingface_hub import constants, hf_hub_download, snapshot_download, try_to_load_from_cache
from huggingface_hub.errors import EntryNotFoundError, HFValidationError, LocalEntryNotFoundError
from safetensors import SafetensorError
from tokenizers import Encoding
from transformers.utils import logging

from surefoot.models import registry
from surefoot.network import Network
from surefoot.run import cancel
from surefoot.text.json_values import parsed
from surefoot.text.words import encodable
from surefoot.types.errors import ConfigError, ModelError, NetworkError, on_one_line

constants.HF_HUB_DISABLE_TELEMETRY = True
"""For the whole process: it asks the hub which agents there are before it looks for a file, even one that is here."""

MaxPieces = Annotated[int, Ge(16)]
"""The most pieces that are read at once."""
_UNREADABLE = (OSError, ValueError, KeyError, RuntimeError, EOFError, SafetensorError, UnpicklingError)
"""Errors of transformers for files that are missing, torn, foreign or of another shape."""


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence transformers' progress bars and reports; errors are raised all the same."""
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model that gives each text, or pair of texts, a row of logits, in float32 and without dropout."""

    source: str
    """The folder or the name on the hub."""
    model: Any
    tokenizer: Any
    """The tokeniser of transformers, for `save_pretrained`; texts go through `pieces` and `finished`."""
    marks: tuple[str, ...]
    """The tokeniser's own marks, such as `</s>`, longest first."""
    lacking: frozenset[str]
    """Weights that the files lack; they were drawn at random."""
    misshapen: frozenset[str]
    """Weights that the files hold in another shape; they were drawn at random."""

    def pieces(self, text: str) -> Encoding:
        """The pieces of the whole text, without marks of begin or end; offsets count the text's characters. A mark in
        the text counts as space: `</s>` in a retrieved page would else end the input there."""
        for mark in self.marks:
            text = text.replace(mark, " " * len(mark))
        whole: Encoding = self.tokenizer.backend_tokenizer.encode(encodable(text), add_special_tokens=False)
        return whole

    def finished(self, first: Encoding, second: Encoding | None = None) -> Encoding:
        """The pieces of one text or a pair, with the marks that the model expects around them."""
        done: Encoding = self.tokenizer.backend_tokenizer.post_process(first, second)
        return done

    def marks_around(self, *, pair: bool) -> int:
        """The number of pieces that `finished` adds."""
        return int(self.tokenizer.backend_tokenizer.num_special_tokens_to_add(pair))

    @property
    def longest(self) -> int:
        """The most pieces that the model has positions for."""
        known = (self.tokenizer.model_max_length, getattr(self.model.config, "max_position_embeddings", None))
        return min(int(most) for most in known if most)

    def logits(self, inputs: Sequence[Encoding], batch: int) -> list[list[float]]:
        """A row for each input, in order; it may hold NaN. Raises ModelError when a run fails."""
        return self.rows(inputs, batch, lambda output, _: output.logits.float())

    def rows(self, inputs: Sequence[Encoding], batch: int, read: Callable[[Any, Any], Any]) -> list[list[float]]:
        """A row for each input, in order, as `read` makes them of the model's output and the mask of its pieces.

        Inputs of like length share a run of `batch`, padded and masked. With a batch of 1 a row is the same to the last
        bit whatever else is read; in larger ones rows agree to 1e-4. Raises ModelError when a run fails.
        """
        order = sorted(range(len(inputs)), key=lambda place: len(inputs[place].ids))
        rows: dict[int, list[float]] = {}
        for start in range(0, len(order), batch):
            cancel.check()
            places = order[start : start + batch]
            rows |= zip(places, self._run([inputs[place] for place in places], read), strict=True)
        return [rows[place] for place in range(len(inputs))]

    def tensors(self, inputs: Sequence[Encoding]) -> dict[str, Any]:
        """The model's input, padded to the longest and masked, on the model's device."""
        named = {"input_ids": [e.ids for e in inputs], "attention_mask": [[1] * len(e.ids) for e in inputs]}
        if "token_type_ids" in self.tokenizer.model_input_names:
            named["token_type_ids"] = [e.type_ids for e in inputs]
        fill, width = {"input_ids": self.tokenizer.pad_token_id or 0}, max(len(e.ids) for e in inputs)
        padded = {
            key: [[*row, *[fill.get(key, 0)] * (width - len(row))] for row in rows] for key, rows in named.items()
        }
        return {key: torch.tensor(rows).to(self.model.device) for key, rows in padded.items()}

    @_quiet()
    def save(self, folder: Path) -> None:
        """Write the model, as safetensors, and the tokeniser; not atomically."""
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    def _run(self, inputs: Sequence[Encoding], read: Callable[[Any, Any], Any]) -> list[list[float]]:
        try:
            with torch.inference_mode():
                tensors = self.tensors(inputs)
                rows: list[list[float]] = read(self.model(**tensors), tensors["attention_mask"]).tolist()
        except (RuntimeError, IndexError, ValueError) as error:
            size = f"{len(inputs)} × {max(len(e.ids) for e in inputs)} pieces"
            raise ModelError(f"{self.source} failed on {size}: {on_one_line(error)}") from error
        return rows

    def fingerprint(self) -> str:
        """Eight hex digits of the weights' hash, whatever files they came from; takes about a second per gigabyte."""
        digest = hashlib.sha256()
        for name, tensor in sorted(self.model.state_dict().items()):
            digest.update(name.encode())
            digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
        return digest.hexdigest()[:8]


def kind(source: str) -> str:
    """The family of a checkpoint's model, such as "t5" or "bert"; raises ModelError if there is none."""
    with _reading(source):
        return str(_anywhere("AutoConfig", source, None).model_type)


def opened(
    make: str,
    source: str,
    *,
    labels: int | None = None,
    device: str | None = None,
    seed: int | None = None,
    network: Network | None = None,
) -> Checkpoint:
    """Open the checkpoint of a folder, or of a name on the hub, as the class `make` of transformers.

    `labels` None: as many as the checkpoint says. `device` None: a GPU if there is one. `seed` makes `lacking` weights
    the same each time. Nothing is fetched for a folder, for a name in the hub's cache, or under SUREFOOT_OFFLINE.
    Raises ModelError, ConfigError for a missing device, and NetworkError where `network` does not allow the hub.
    """
    options: dict[str, Any] = {} if labels is None else {"num_labels": labels}
    with _reading(source), torch.random.fork_rng(enabled=seed is not None):
        if seed is not None:
            torch.manual_seed(seed)
        options |= {"output_loading_info": True, "ignore_mismatched_sizes": True}
        model, found = _anywhere(make, source, network, **options)
    tokenizer = _tokenizer(source, network)
    return Checkpoint(
        source,
        _placed(model.float().eval(), device),
        tokenizer,
        tuple(sorted(filter(None, tokenizer.all_special_tokens), key=len, reverse=True)),
        frozenset(found["missing_keys"]),
        frozenset(name for name, *_ in found["mismatched_keys"]),
    )


def beside(source: str, file: str, network: Network | None = None) -> Any:
    """The JSON of a file beside the checkpoint's weights; None: it has no such file. Raises ModelError for one that is
    damaged or cannot be fetched, and NetworkError as `opened` does."""
    try:
        path = Path(_here(source)) / file
        if not path.is_file():
            # Also where the hub has said before that there is none: it is asked once.
            if Path(source).is_dir() or registry.offline() or try_to_load_from_cache(source, file) is not None:
                return None
            _require_hub(network)
            path = Path(hf_hub_download(source, file))  # nosec B615 # JSON, which is only read
        return parsed(path.read_bytes())
    except (EntryNotFoundError, OSError, ValueError) as error:
        if isinstance(error, EntryNotFoundError) and not isinstance(error, LocalEntryNotFoundError):
            return None
        raise ModelError(f"{file} of {source} cannot be read: {on_one_line(error)}; copy it again") from error


def _tokenizer(source: str, network: Network | None) -> Any:
    try:
        found = _anywhere("AutoTokenizer", source, network)
    except NetworkError:
        raise
    except Exception as error:  # the tokenizers library raises nothing narrower for a damaged file
        message = f"the tokenizer of {source} does not load: {on_one_line(error)}"
        raise ModelError(f"{message}; copy its files again") from error
    if not found.is_fast:
        raise ModelError(f"the tokenizer of {source} is not one of the tokenizers library; save it with tokenizer.json")
    found.backend_tokenizer.no_truncation()
    found.backend_tokenizer.no_padding()
    return found


@_quiet()
def _anywhere(make: str, source: str, network: Network | None, **options: Any) -> Any:
    """Load from the folder, else from the hub's cache, else from the hub. `make` is a name, since transformers takes
    seconds to import a model's code, and listing the components must not."""
    load = getattr(transformers, make).from_pretrained
    try:
        return load(_here(source), local_files_only=True, trust_remote_code=False, **options)
    except OSError:
        if Path(source).is_dir() or registry.offline():
            raise
    _require_hub(network)
    return load(source, trust_remote_code=False, **options)


def _require_hub(network: Network | None) -> None:
    hub = urlsplit(os.environ.get("HF_ENDPOINT", "https://huggingface.co"))
    (network or Network()).require(hub.hostname or "huggingface.co", hub.port)


def _here(source: str) -> str:
    """The folder on this machine that holds the checkpoint; raises OSError if there is none. Given a name, transformers
    would ask the hub even when told to look into the cache alone."""
    try:
        if Path(source).is_dir():
            return source
        return str(snapshot_download(source, local_files_only=True))  # nosec B615 # nothing is downloaded
    except HFValidationError as error:
        raise OSError(str(error)) from error


@contextmanager
def _reading(source: str) -> Iterator[None]:
    try:
        yield
    except _UNREADABLE as error:
        message = f"the checkpoint {source} does not load: {on_one_line(error)}"
        raise ModelError(f"{message}; give a whole one, as save_pretrained writes it") from error


def _placed(model: Any, device: str | None) -> Any:
    wanted = device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return model.to(wanted)
    except (RuntimeError, AssertionError) as error:
        raise ConfigError(f"the device '{wanted}' cannot be used: {on_one_line(error)}; cpu always can") from error
