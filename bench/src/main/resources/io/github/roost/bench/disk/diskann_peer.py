"""diskannpy as a peer: builds a static index on disk of FOLDER/rows, then obeys orders on standard input.

Arguments: FOLDER DIMENSION INDEX_FOLDER DEGREE WIDTH THREADS MEMORY_BYTES. Prints the seconds that the build took.
Order "search K WIDTH 0": the ids found for FOLDER/queries go to FOLDER/found as 32-bit integers; prints 0.
Order "rate K WIDTH SECONDS": searches for all queries over and over; prints searches a second.
"""
import os
import sys
import time

# What its C++ prints must not come between the answers.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

import diskannpy
import numpy

folder, dimension, index_folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
degree, width, threads, memory = map(int, sys.argv[4:8])
rows = numpy.fromfile(folder + "/rows", dtype="<f4").reshape(-1, dimension)
queries = numpy.fromfile(folder + "/queries", dtype="<f4").reshape(-1, dimension)

began = time.perf_counter()
diskannpy.build_disk_index(
    data=rows,
    distance_metric="l2",
    index_directory=index_folder,
    complexity=width,
    graph_degree=degree,
    search_memory_maximum=memory / 2**30,
    build_memory_maximum=8.0,
    num_threads=threads,
    pq_disk_bytes=0,
    index_prefix="diskann",
)
index = diskannpy.StaticDiskIndex(
    index_directory=index_folder, num_threads=threads, num_nodes_to_cache=0, index_prefix="diskann"
)
print(time.perf_counter() - began, file=answers, flush=True)


def search(k, complexity):
    return index.batch_search(queries, k_neighbors=k, complexity=complexity, num_threads=threads, beam_width=4)


for line in sys.stdin:
    what, k, complexity, seconds = line.split()
    k, complexity, seconds = int(k), int(complexity), float(seconds)
    if what == "search":
        search(k, complexity).identifiers.astype("<i4").tofile(folder + "/found")
        print(0, file=answers, flush=True)
        continue
    began = time.perf_counter()
    searches = 0
    while True:
        search(k, complexity)
        searches += len(queries)
        elapsed = time.perf_counter() - began
        if elapsed >= seconds:
            break
    print(searches / elapsed, file=answers, flush=True)
