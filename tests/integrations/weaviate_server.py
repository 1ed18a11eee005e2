"""A stand-in for a Weaviate server: what its documented API answers where LangChain's adapter connects and searches."""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc
from weaviate.proto.v1 import health_weaviate_pb2, properties_pb2, search_get_pb2, weaviate_pb2_grpc

from endpoint import WebAnswer, WebRequest, serving

INVERTED = {
    "bm25": {"b": 0.75, "k1": 1.2},
    "cleanupIntervalSeconds": 60,
    "stopwords": {"additions": None, "preset": "en", "removals": None},
    "usingBlockMaxWAND": True,
}
TENANTS = {"autoTenantActivation": False, "autoTenantCreation": False, "enabled": False}
SCHEMA: dict[str, Any] = {
    "class": "Manuals",
    "invertedIndexConfig": INVERTED,
    "multiTenancyConfig": TENANTS,
    "properties": [],
    "replicationConfig": {"asyncEnabled": False, "deletionStrategy": "TimeBasedResolution", "factor": 1},
    "shardingConfig": {
        "actualCount": 1,
        "actualVirtualCount": 128,
        "desiredCount": 1,
        "desiredVirtualCount": 128,
        "function": "murmur3",
        "key": "_id",
        "strategy": "hash",
        "virtualPerPhysical": 128,
    },
    "vectorIndexConfig": {
        "cleanupIntervalSeconds": 300,
        "distance": "cosine",
        "dynamicEfFactor": 8,
        "dynamicEfMax": 500,
        "dynamicEfMin": 100,
        "ef": -1,
        "efConstruction": 128,
        "flatSearchCutoff": 40000,
        "maxConnections": 32,
        "skip": False,
        "vectorCacheMaxObjects": 1000000000000,
    },
    "vectorIndexType": "hnsw",
    "vectorizer": "none",
}


def serves(request: bytes, context: Any) -> bytes:
    """Says that it is well."""
    healthy: bytes = health_weaviate_pb2.WeaviateHealthCheckResponse(status=1).SerializeToString()
    return healthy


class Search(weaviate_pb2_grpc.WeaviateServicer):  # type: ignore[misc]
    """Finds the same objects for every question, and remembers what it was asked."""

    def __init__(self, objects: Sequence[dict[str, Any]]) -> None:
        self.objects, self.asked = objects, []

    def Search(self, request: Any, context: Any) -> Any:
        self.asked.append(request)
        return search_get_pb2.SearchReply(results=[self._result(n, one) for n, one in enumerate(self.objects, start=1)])

    def _result(self, number: int, fields: dict[str, Any]) -> Any:
        about = search_get_pb2.MetadataResult(
            id=f"{number:08}-0000-4000-8000-000000000000", score=1 / number, score_present=True
        )
        values = {
            key: properties_pb2.Value(**{"int_value" if isinstance(value, int) else "text_value": value})
            for key, value in fields.items()
        }
        shown = properties_pb2.Properties(fields=values)
        return search_get_pb2.SearchResult(
            metadata=about, properties=search_get_pb2.PropertiesResult(non_ref_props=shown, target_collection="Manuals")
        )


@contextmanager
def weaviate_server(objects: Sequence[dict[str, Any]]) -> Iterator[tuple[int, int, Search]]:
    """The ports for HTTP and for gRPC, and what was asked."""

    def answer(request: WebRequest) -> WebAnswer:
        path = request.target.partition("?")[0]
        known = {
            "/v1/meta": {"hostname": "http://[::]:8080", "modules": {}, "version": "1.34.0"},
            "/v1/schema/Manuals": SCHEMA,
        }
        if path in known:
            return 200, {"Content-Type": "application/json"}, json.dumps(known[path]).encode()
        return (200 if "/.well-known/" in path and "openid" not in path else 404), {}, b""

    search = Search(objects)
    server = grpc.server(ThreadPoolExecutor(2))
    check = {"Check": grpc.unary_unary_rpc_method_handler(serves)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("grpc.health.v1.Health", check),))
    weaviate_pb2_grpc.add_WeaviateServicer_to_server(search, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        with serving(answer) as url:
            yield int(url.rpartition(":")[2]), port, search
    finally:
        server.stop(None)
