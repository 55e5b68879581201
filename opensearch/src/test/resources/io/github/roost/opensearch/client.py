"""Uses the plugin by opensearch-py, as a service does, and compares every answer with a scan. The argument is a node's address."""
import base64
import sys

import numpy as np
from opensearchpy import OpenSearch, RequestError, helpers

DIMENSION = 16
DOCUMENTS = 1_500
WORDS = ["wren", "owl", "rook"]
BATCH = "/_plugins/_roost/search/birds"


def check(holds, *told):
    if not holds:
        sys.exit(" ".join(str(one) for one in told))


def nearest(query, k, admits=lambda number: True):
    rows = [number for number in vectors if admits(number)]
    distances = {number: float(np.sum((vectors[number] - query) ** 2)) for number in rows}
    return [str(number) for number in sorted(rows, key=distances.get)[:k]]


def ids(answer):
    return [hit["_id"] for hit in answer["hits"]["hits"]]


def roost(field="v", **parameters):
    return {"roost_knn": {field: {"effort": 500, **parameters}}}


def refused(send, reason):
    try:
        send()
    except RequestError as refusal:
        check(refusal.status_code == 400, refusal.status_code)
        check(reason in str(refusal.info), reason, "is missing in", refusal.info)
        return
    sys.exit("must be refused for: " + reason)


client = OpenSearch(sys.argv[1])
random = np.random.default_rng(7)
vectors = {number: random.normal(size=DIMENSION).astype(np.float32) for number in range(DOCUMENTS)}

vector = {"type": "roost_vector", "dimension": DIMENSION, "similarity": "euclidean"}
client.indices.create(
    index="birds",
    body={
        "settings": {"index.roost.enabled": True, "number_of_shards": 2, "number_of_replicas": 0},
        "mappings": {
            "properties": {
                "v": vector,
                "word": {"type": "keyword"},
                "chunks": {"type": "nested", "properties": {"v": vector}},
            }
        },
    },
)


def document(number):
    # A document's chunks are its own vector and one of which no query is near.
    own = vectors[number].tolist()
    return {"v": own, "word": WORDS[number % 3], "chunks": [{"v": own}, {"v": [50.0] * DIMENSION}]}


actions = [{"_index": "birds", "_id": str(number), "_source": document(number)} for number in vectors]
actions.append({"_index": "birds", "_id": "short", "_source": {"v": [1, 2, 3]}})
indexed, errors = helpers.bulk(client, actions, raise_on_error=False, chunk_size=400)
check(indexed == DOCUMENTS, indexed)
check(len(errors) == 1 and errors[0]["index"]["status"] == 400, errors)

# Changes as a service makes them: some documents are replaced, some deleted.
for number in range(0, DOCUMENTS, 50):
    vectors[number] = random.normal(size=DIMENSION).astype(np.float32)
    client.index(index="birds", id=str(number), body=document(number))
for number in range(1, DOCUMENTS, 50):
    del vectors[number]
    client.delete(index="birds", id=str(number))
client.indices.refresh(index="birds")

queries = [random.normal(size=DIMENSION).astype(np.float32) for _ in range(8)]
for query in queries:
    floats = query.tolist()
    found = client.search(index="birds", body={"query": roost(vector=floats, k=10), "size": 10})
    check(ids(found) == nearest(query, 10), ids(found), "is not", nearest(query, 10))

    packed = base64.b64encode(query.astype("<f4").tobytes()).decode()
    found = client.search(index="birds", body={"query": roost(vector=packed, k=10), "size": 10})
    check(ids(found) == nearest(query, 10), "base64", ids(found))

    owls = roost(vector=floats, k=10, filter={"term": {"word": "owl"}})
    found = client.search(index="birds", body={"query": owls, "size": 10})
    expected = nearest(query, 10, lambda number: number % 3 == 1)
    check(ids(found) == expected, "filtered", ids(found), "is not", expected)

    chunks = {"nested": {"path": "chunks", "query": roost("chunks.v", vector=floats, k=10), "inner_hits": {}}}
    found = client.search(index="birds", body={"query": chunks, "size": 10})
    check(ids(found) == nearest(query, 10), "chunks", ids(found))
    inner = [hit["inner_hits"]["chunks"]["hits"]["hits"][0]["_nested"]["offset"] for hit in found["hits"]["hits"]]
    check(inner == [0] * 10, "chunks", inner)

    limit = float(np.sum((vectors[int(nearest(query, 20)[-1])] - query) ** 2)) * 1.0001
    found = client.search(index="birds", body={"query": roost(vector=floats, max_distance=limit), "size": 100})
    check(ids(found) == nearest(query, 20), "all near enough", ids(found))

    pages = [
        ids(client.search(index="birds", body={"query": roost(vector=floats, k=10), "size": 4, "from": start}))
        for start in (0, 4, 8)
    ]
    # Each shard gives ten.
    check(sum(pages, [])[:10] == nearest(query, 10), "pages", pages)

many = [query.tolist() for query in queries]
batch = {"query": roost(vectors=many, k=10, filter={"term": {"word": "wren"}}), "_source": False}
answers = client.transport.perform_request("POST", BATCH, body=batch)["results"]
expected = [nearest(query, 10, lambda number: number % 3 == 0) for query in queries]
check([[hit["_id"] for hit in answer["hits"]] for answer in answers] == expected, "batch", answers)

lines = []
for floats in many:
    lines += [{"index": "birds"}, {"query": roost(vector=floats, k=10), "size": 10}]
answers = client.msearch(body=lines)["responses"]
check([ids(answer) for answer in answers] == [nearest(query, 10) for query in queries], "msearch", answers)

refused(lambda: client.search(index="birds", body={"query": roost(vector=[1, 2], k=10)}), "16")
refused(lambda: client.search(index="birds", body={"query": roost(vector=many[0], k=0)}), "k")
refused(lambda: client.search(index="birds", body={"query": roost("word", vector=many[0], k=1)}), "word")

stats = client.transport.perform_request("GET", "/_plugins/_roost/stats")
check("birds" in str(stats), "statistics without the index", stats)

# With a scroll: all documents in the order of their distance.
scrolled = [
    hit["_id"]
    for hit in helpers.scan(
        client,
        index="birds",
        query={"query": {"roost_knn": {"v": {"vector": many[0], "max_distance": 1e6, "exact": True}}}},
        preserve_order=True,
        size=500,
    )
]
check(scrolled == nearest(queries[0], len(vectors)), "scroll", len(scrolled))
print("all answers are right")
