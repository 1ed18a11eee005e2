"""From `surefoot.toml`, or a dictionary of the same shape, to a pipeline.

A section is a role, `use` names the component, and the other keys are its constructor's arguments. Objects are built
from configuration, never configuration from objects.
"""

import json
import re
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from surefoot import components
from surefoot.config import consent
from surefoot.index.storage import USUAL
from surefoot.models import registry
from surefoot.text import toml_values
from surefoot.types.errors import ConfigError

Config = dict[str, dict[str, Any]]

AUTO = "auto"
"""The generator where none is named: a language model that is configured, or was pulled, words the answer; without one,
the quoting reader quotes."""

DEFAULTS: Config = {
    "index": {"path": USUAL},
    "embedder": {"use": "static"},
    "retriever": {"use": "hybrid"},
    "evaluator": {"use": "minilm"},
    "thresholds": {},
    "policy": {"use": "threshold"},
    "refiner": {"use": "strips"},
    "rewriter": {"use": "templates"},
    "searcher": {"use": "nowhere"},
    "llm": {"use": "local"},
    "generator": {"use": AUTO},
    "verifier": {"use": "minilm"},
    "pipeline": {},
    "budget": {},
    "sources": {},
    "answer": {},
    "judge": {},
    "report": {},
    "metric": {},
    "network": {"allow": ["*"], "cache": ".surefoot/replies.db"},
    "server": {},
    "telemetry": {},
}
"""The configuration where nothing else is said."""

FILE = Path("surefoot.toml")
"""Read from the working directory when it is there and no other file is named."""


def read(
    source: str | Path | Mapping[str, Any] | None = None, *overrides: Mapping[str, Any], trusted: bool = False
) -> Config:
    """The complete configuration: the defaults, then the file or dictionary, then each of the overrides.

    Raises one ConfigError for all that is wrong with it. Unless it is `trusted`, a file that names code raises
    UnagreedCode, and one that names an endpoint that was never agreed to here UnagreedEndpoint; a dictionary and the
    overrides are the caller's own.
    """
    written = source if isinstance(source, Mapping) else read_file(source)
    layers = [written, *overrides]
    config = {section: dict(values) for section, values in DEFAULTS.items()}
    faults: list[str] = []
    for section, values in (item for layer in layers for item in layer.items()):
        try:
            _merge(config, section, values)
        except ConfigError as error:
            faults += error.args
    if config["generator"].get("use") == AUTO:
        config = _settled(config)
    if not isinstance(config["index"].get("path"), str):
        faults.append(f"[index] path must be the name of a file, not {config['index'].get('path')!r}")
        config["index"] = dict(DEFAULTS["index"])
    if faults:
        from surefoot.config.faults import faults as others  # imports what a correct configuration need not wait for

        raise ConfigError(*faults, *others(config))
    try:
        json.dumps(config)
    except TypeError as error:
        raise ConfigError(f"a setting is text, a number, true, false, or a list or table of these: {error}") from error
    if not (trusted or isinstance(source, Mapping)):
        consent.require({*consent.code(written)} & {*consent.code(config)}, Path(source or FILE))
        consent.require_endpoints(config, written, Path(source or FILE))
    return config


def _settled(config: Config) -> Config:
    """The configuration with the generator that `AUTO` stands for."""
    configured = config["llm"] != DEFAULTS["llm"]
    pulled = not configured and registry.RECOMMENDED in _pulled()
    use = {"use": "llm" if configured or pulled else "extractive"}
    model = {"llm": {"use": "local", "model": registry.RECOMMENDED}} if pulled else {}
    return config | {"generator": config["generator"] | use} | model


def _pulled() -> list[str]:
    """The language models that somebody pulled by their name, and that can run here."""
    known = [name for name, model in registry.REGISTRY.items() if model.named and model.file.endswith(".gguf")]
    return [name for name in known if registry.has(name)] if find_spec("xllamacpp") else []


def models(config: Config) -> dict[str, dict[str, dict[str, Any]]]:
    """Each model that may word the answers of this configuration, by name, with the override that has it do so: the
    usual one first, the configured one, those that were pulled, and "none", the quoting reader."""
    llm, use = config["llm"], config["generator"]["use"]
    name = str(llm.get("model", llm["use"]))
    name = Path(name).stem if name.endswith(".gguf") else name
    usual = {"extractive": "none", "llm": name}.get(use, use)
    configured: dict[str, Any] = {} if llm == DEFAULTS["llm"] else {name: {"generator": {"use": "llm"}}}
    others = {model: worded_by(model) for model in (*_pulled(), "none")}
    return {usual: {}} | {model: override for model, override in (others | configured).items() if model != usual}


def worded_by(model: str) -> dict[str, dict[str, Any]]:
    """The override that has a model word the answers: "local" for the recommended one on this machine, a model's name
    or file, the address of an OpenAI-compatible endpoint, whose first model it is, or "none" for the quoting reader.
    Raises EndpointError."""
    from surefoot.llms.openai import OpenAI  # most commands need not wait for it

    if model == "none":
        return {"generator": {"use": "extractive"}}
    if model == "local":
        llm: dict[str, Any] = {"use": "local", "model": registry.RECOMMENDED}
    elif model in registry.REGISTRY or model.endswith(".gguf"):
        llm = {"use": "local", "model": model}
    elif re.match(r"https?://", model):
        listed = OpenAI("", model).probe()
        if not listed:
            raise ConfigError(f"{model} lists no model; name one: --set llm.model=NAME")
        llm = {"use": "openai", "base_url": model, "model": listed[0]}
    else:
        llm = {"use": "openai", "model": model}
    return {"generator": {"use": "llm"}, "llm": llm}


def setting(text: str) -> dict[str, dict[str, Any]]:
    """`a.b=c` as an override; c is read as TOML where it is TOML, and as text where not. `a=c` is short for
    `a.use=c`."""
    key, equals, raw = text.partition("=")
    section, dot, name = key.strip().partition(".")
    if equals and section in DEFAULTS and not dot and "use" in DEFAULTS[section]:
        return {section: {"use": raw.strip()}}
    if not (equals and dot and section and name):
        raise ConfigError(f"'{text}' is not a setting; write section.key=value, as in evaluator.use=cosine")
    return {section: {name: _value(raw.strip())}}


def settings(texts: Iterable[str]) -> list[dict[str, dict[str, Any]]]:
    """Each of several `a.b=c` as an override, in order."""
    return [setting(text) for text in texts]


def read_file(path: str | Path | None) -> dict[str, Any]:
    """The tables of a TOML file; None: of the one in the working directory, if there is one. Raises ConfigError."""
    if path is None and not FILE.exists():
        return {}
    found = Path(path or FILE)
    try:
        return toml_values.parsed(found.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{found} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(f"{found} is not TOML: {error}") from error


def _merge(config: Config, section: str, values: Any) -> None:
    if section not in config:
        raise ConfigError(components.misnamed("no section called", section, config))
    if isinstance(values, str) and "use" in config[section]:
        values = {"use": values}
    if not isinstance(values, Mapping):
        raise ConfigError(f"'{section}' must be a section of keys, not {values!r}")
    if not isinstance(values.get("use", ""), str):
        raise ConfigError(f"[{section}] use must be the name of a component, not {values['use']!r}")
    if "use" in values and values["use"] != config[section].get("use") and section != "judge":
        config[section] = {}  # another component has other options; a budget for judges holds whoever judges
    config[section].update(values)


def _value(raw: str) -> Any:
    """A TOML value, or .25, which TOML would not have; else a text."""
    try:
        return toml_values.parsed("x = " + re.sub(r"\A([+-]?)(\.\d+)\Z", r"\g<1>0\2", raw))["x"]
    except ValueError:
        return raw
