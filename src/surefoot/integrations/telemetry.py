"""`[telemetry]` of a configuration: the traces of a command or a server go to a backend of OpenTelemetry."""

import logging
import os
from functools import cache
from urllib.parse import urlsplit

from surefoot.config.builder import Builder
from surefoot.config.sections import TelemetrySection
from surefoot.network.credentials import address
from surefoot.pipeline import Pipeline
from surefoot.run.recorder import Listener
from surefoot.types.errors import MissingExtra

_SECONDS = 5.0
"""For a batch, retries included: so long a command may wait at its end for a backend that is down."""


def traced(builder: Builder) -> Pipeline:
    """The builder's pipeline; where `[telemetry]` has a `base_url`, its traces are sent there.

    They are sent in the background; a backend that is down costs a line in the log. Raises MissingExtra, ConfigError
    for what is no address, and NetworkError for one that `[network] allow` forbids; else as `Builder.pipeline` does.
    """
    pipeline = builder.pipeline()
    section = TelemetrySection.parsed("[telemetry]", builder.config["telemetry"])
    if not section.base_url:
        return pipeline
    place = address(section.base_url)
    parts = urlsplit(place)
    builder.network.require(str(parts.hostname), parts.port or {"http": 80, "https": 443}[parts.scheme])
    return pipeline.but(listener=_sender(place, section.texts, section.logs))


@cache  # of which each has threads of its own, and a server builds many pipelines
def _sender(place: str, texts: bool, logs: bool) -> Listener:
    try:
        import requests
        from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk._logs import LoggerProvider
        from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import SpanLimits, TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise MissingExtra("[telemetry]", "otel") from error
    from surefoot.integrations.opentelemetry import OpenTelemetry

    def session() -> requests.Session:
        made = requests.Session()
        made.trust_env, made.max_redirects = False, 0  # neither leads elsewhere than the guard was asked about
        return made

    logging.getLogger("opentelemetry.exporter.otlp.proto.http").setLevel(logging.ERROR)  # not each retry
    name = os.environ.get("OTEL_SERVICE_NAME", "surefoot")
    resource = Resource.create({"service.name": name, "openinference.project.name": name})  # Phoenix reads the latter
    # Documents of a retrieval with their texts are more attributes than OpenTelemetry's own limit of 128.
    spans = TracerProvider(resource=resource, span_limits=SpanLimits(max_span_attributes=4096))
    to_traces = OTLPSpanExporter(f"{place}/v1/traces", session=session(), timeout=_SECONDS)
    spans.add_span_processor(BatchSpanProcessor(to_traces))
    records = LoggerProvider(resource=resource)
    if logs:
        to_logs = OTLPLogExporter(f"{place}/v1/logs", session=session(), timeout=_SECONDS)
        records.add_log_record_processor(BatchLogRecordProcessor(to_logs))
    return OpenTelemetry(spans, records, texts)
