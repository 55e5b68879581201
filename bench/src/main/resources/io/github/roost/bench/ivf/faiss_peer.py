"""FAISS's IndexIVFFlat as a peer: builds an index of FOLDER/rows, then obeys orders on standard input.

Arguments: FOLDER DIMENSION NLIST THREADS. Prints the seconds that training and adding took.
Order "search K NPROBE 0": the ids found for FOLDER/queries go to FOLDER/found as 32-bit integers; prints 0.
Order "rate K NPROBE SECONDS": all queries as one batch, over and over, in each parallel mode; prints the searches a
second of the best mode.
Order "lone K NPROBE SECONDS": one query after the other, each on all threads (parallel_mode 1); prints the median time in
microseconds. Order "p999 0 0 0" then prints the 99.9th percentile of the same searches.
"""
import sys
import time

import faiss
import numpy

folder, dimension, nlist, threads = sys.argv[1], *map(int, sys.argv[2:5])
rows = numpy.fromfile(folder + "/rows", dtype="<f4").reshape(-1, dimension)
queries = numpy.fromfile(folder + "/queries", dtype="<f4").reshape(-1, dimension)

faiss.omp_set_num_threads(threads)
index = faiss.IndexIVFFlat(faiss.IndexFlatL2(dimension), dimension, nlist)
began = time.perf_counter()
index.train(rows)
index.add(rows)
print(time.perf_counter() - began, flush=True)
times = []

for line in sys.stdin:
    what, k, nprobe, seconds = line.split()
    k, index.nprobe, seconds = int(k), int(nprobe) or 1, float(seconds)
    if what == "search":
        index.search(queries, k)[1].astype("<i4").tofile(folder + "/found")
        print(0, flush=True)
    elif what == "p999":
        print(times[int(.999 * (len(times) - 1))], flush=True)
    elif what == "lone":
        index.parallel_mode = 1
        times = []
        ends = time.perf_counter() + seconds
        query = 0
        while not times or time.perf_counter() < ends:
            one = queries[query % len(queries)][None]
            began = time.perf_counter()
            index.search(one, k)
            times.append(1e6 * (time.perf_counter() - began))
            query += 1
        times.sort()
        print(times[len(times) // 2], flush=True)
    else:
        best = 0
        for mode in (0, 1, 2):
            index.parallel_mode = mode
            began = time.perf_counter()
            searches = 0
            while searches == 0 or time.perf_counter() - began < seconds:
                index.search(queries, k)
                searches += len(queries)
            best = max(best, searches / (time.perf_counter() - began))
        print(best, flush=True)
