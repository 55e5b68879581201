"""hnswlib as a peer: builds an index of FOLDER/rows, then obeys orders on standard input.

Arguments: FOLDER DIMENSION M EF_CONSTRUCTION THREADS. Prints the seconds that the build took.
Order "search K EF 0": the ids found for FOLDER/queries go to FOLDER/found as 32-bit integers; prints 0.
Order "rate K EF SECONDS": searches for all queries over and over; prints searches a second.
"""
import sys
import time

import hnswlib
import numpy

folder, dimension, m, ef_construction, threads = sys.argv[1], *map(int, sys.argv[2:6])
rows = numpy.fromfile(folder + "/rows", dtype="<f4").reshape(-1, dimension)
queries = numpy.fromfile(folder + "/queries", dtype="<f4").reshape(-1, dimension)

index = hnswlib.Index(space="l2", dim=dimension)
index.init_index(max_elements=len(rows), M=m, ef_construction=ef_construction)
index.set_num_threads(threads)
began = time.perf_counter()
index.add_items(rows)
print(time.perf_counter() - began, flush=True)

for line in sys.stdin:
    what, k, ef, seconds = line.split()
    k, ef, seconds = int(k), int(ef), float(seconds)
    index.set_ef(ef)
    if what == "search":
        found, _ = index.knn_query(queries, k=k, num_threads=threads)
        found.astype("<i4").tofile(folder + "/found")
        print(0, flush=True)
        continue
    began = time.perf_counter()
    searches = 0
    while True:
        index.knn_query(queries, k=k, num_threads=threads)
        searches += len(queries)
        elapsed = time.perf_counter() - began
        if elapsed >= seconds:
            break
    print(searches / elapsed, flush=True)
