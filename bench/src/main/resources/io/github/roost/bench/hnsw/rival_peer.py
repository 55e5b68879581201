"""Graph and IVF libraries of others as peers: builds an index of FOLDER/rows, then obeys orders on standard input.

Arguments: FOLDER DIMENSION NAME M EF_CONSTRUCTION BUILD_THREADS SEARCH_THREADS [KEPT]. Prints the seconds that the build took.
With KEPT the index is saved there, or, where KEPT is there, loaded from it and the seconds that its build took printed.
Order "bytes": prints by how much the process has grown by the index, in bytes.
Order "search K EF 0": the ids found for FOLDER/queries go to FOLDER/found as 32-bit integers; prints 0.
Order "rate K EF SECONDS": searches for all queries over and over; prints searches a second.
All queries are one batch, which the library shares out among its threads. EF is what a library has in its place.
"""
import gc
import os
import shutil
import sys
import time

import numpy

folder, name = sys.argv[1], sys.argv[3]
dimension, m, ef_construction, build_threads, threads = map(int, sys.argv[2:3] + sys.argv[4:8])
kept = sys.argv[8] if len(sys.argv) > 8 else None


def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Hnswlib:
    def build(self, rows):
        self.make()
        self.index.init_index(max_elements=len(rows), M=m, ef_construction=ef_construction)
        self.index.add_items(rows)

    def make(self):
        import hnswlib

        self.index = hnswlib.Index(space="l2", dim=dimension)
        self.index.set_num_threads(build_threads)

    def save(self, path):
        self.index.save_index(path + "/index")

    def load(self, path, rows):
        self.make()
        self.index.load_index(path + "/index")

    def search(self, queries, k, ef):
        self.index.set_ef(ef)
        return self.index.knn_query(queries, k=k, num_threads=threads)[0]


class Faiss:
    def save(self, path):
        import faiss

        faiss.write_index(self.index, path + "/index")

    def load(self, path, rows):
        import faiss

        self.index = faiss.read_index(path + "/index")
        faiss.omp_set_num_threads(threads)


class FaissHnsw(Faiss):
    def build(self, rows):
        import faiss

        faiss.omp_set_num_threads(build_threads)
        self.index = faiss.IndexHNSWFlat(dimension, m)
        self.index.hnsw.efConstruction = ef_construction
        self.index.add(rows)
        faiss.omp_set_num_threads(threads)

    def search(self, queries, k, ef):
        self.index.hnsw.efSearch = ef
        return self.index.search(queries, k)[1]


class FaissIvfRabitq(Faiss):
    """A list for every 4 roots of the rows; EF lists are scanned, and 4 k of what is found are compared by vectors."""

    def build(self, rows):
        import faiss

        faiss.omp_set_num_threads(build_threads)
        self.index = faiss.index_factory(
            dimension, "IVF%d,RaBitQfs,Refine(Flat)" % int(4 * len(rows) ** 0.5))
        self.index.train(rows)
        self.index.add(rows)
        faiss.omp_set_num_threads(threads)

    def search(self, queries, k, ef):
        import faiss

        lists = int(4 * self.index.ntotal ** 0.5)
        inner = faiss.SearchParametersIVF(nprobe=min(ef, lists))
        parameters = faiss.IndexRefineSearchParameters(k_factor=4, base_index_params=inner)
        return self.index.search(queries, k, params=parameters)[1]


class Usearch:
    def build(self, rows):
        self.make()
        self.index.add(numpy.arange(len(rows)), rows, threads=build_threads)

    def make(self):
        from usearch.index import Index

        self.index = Index(ndim=dimension, metric="l2sq", dtype="f32", connectivity=m, expansion_add=ef_construction)

    def save(self, path):
        self.index.save(path + "/index")

    def load(self, path, rows):
        self.make()
        self.index.load(path + "/index")

    def search(self, queries, k, ef):
        self.index.expansion_search = ef
        return self.index.search(queries, k, threads=threads).keys


class GlassSq8:
    def build(self, rows):
        import glass

        glass.set_num_threads(build_threads)
        self.use(glass.Index("HNSW", "L2", "FP32", 2 * m, ef_construction).build(rows), rows)

    def use(self, graph, rows):
        import glass

        self.graph = graph
        self.searcher = glass.Searcher(graph, rows, "L2", "SQ8U", "FP32")
        self.searcher.set_ef(64)
        self.searcher.optimize(threads)

    def save(self, path):
        self.graph.save(path + "/graph")

    def load(self, path, rows):
        import glass

        graph = glass.Graph()
        graph.load(path + "/graph", "HNSW")
        self.use(graph, rows)

    def search(self, queries, k, ef):
        self.searcher.set_ef(ef)
        found = self.searcher.batch_search(queries, k, threads)
        return numpy.asarray(found[0] if isinstance(found, tuple) else found).reshape(len(queries), -1)[:, :k]


class SvsLvq:
    PARTS = ("config", "graph", "data")

    def build(self, rows):
        import svs

        parameters = svs.VamanaBuildParameters(
            graph_max_degree=2 * m, window_size=ef_construction, alpha=1.2)
        floats = svs.Vamana.build(parameters, rows, svs.DistanceType.L2, num_threads=build_threads)
        for part in self.PARTS:
            os.mkdir(folder + "/" + part)
        floats.save(*(folder + "/" + part for part in self.PARTS))
        del floats
        self.load(folder, rows)
        if kept is None:
            self.remove()

    def remove(self):
        for part in self.PARTS:
            shutil.rmtree(folder + "/" + part)

    def save(self, path):
        for part in self.PARTS:
            shutil.copytree(folder + "/" + part, path + "/" + part)
        self.remove()

    def load(self, path, rows):
        import svs

        loader = svs.LVQLoader(
            svs.VectorDataLoader(path + "/data", svs.DataType.float32), primary=4, residual=8,
            strategy=svs.LVQStrategy.Turbo)
        self.index = svs.Vamana(
            path + "/config", svs.GraphLoader(path + "/graph"), loader, svs.DistanceType.L2, num_threads=threads)

    def search(self, queries, k, ef):
        self.index.search_window_size = ef
        return self.index.search(queries, k)[0]


class SymphonyQg:
    def __init__(self, bits):
        self.bits = bits

    def build(self, rows):
        import rabitqlib

        self.index = rabitqlib.SymqgIndex(dimension, 2 * m, "l2", self.bits)
        self.index.build(rows, ef_construction, build_threads)

    def save(self, path):
        self.index.save(path + "/index")

    def load(self, path, rows):
        import rabitqlib

        self.index = rabitqlib.SymqgIndex.load(path + "/index")

    def search(self, queries, k, ef):
        found = self.index.search_batch(queries, k, ef, threads)
        return [part for part in found if numpy.asarray(part).dtype.kind in "iu"][0]


ENGINES = {
    "hnswlib": Hnswlib,
    "faiss-hnsw": FaissHnsw,
    "faiss-ivf-rabitq": FaissIvfRabitq,
    "usearch": Usearch,
    "glass-sq8": GlassSq8,
    "svs-lvq4x8": SvsLvq,
    "symphonyqg": lambda: SymphonyQg(0),
    "symphonyqg-8bit": lambda: SymphonyQg(8),
}

rows = numpy.fromfile(folder + "/rows", dtype="<f4").reshape(-1, dimension)
queries = numpy.fromfile(folder + "/queries", dtype="<f4").reshape(-1, dimension)
# What libraries print goes where messages go.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


def answer(number):
    answers.write("%r\n" % float(number))
    answers.flush()


def build_or_load(engine):
    """The seconds that the build took. What is kept is whole: it is written under another name first."""
    if kept is not None and os.path.isdir(kept):
        engine.load(kept, rows)
        with open(kept + "/seconds") as seconds:
            return float(seconds.read())
    began = time.perf_counter()
    engine.build(rows)
    took = time.perf_counter() - began
    if kept is not None:
        shutil.rmtree(kept + ".part", ignore_errors=True)
        os.makedirs(kept + ".part")
        engine.save(kept + ".part")
        with open(kept + ".part/seconds", "w") as seconds:
            seconds.write(repr(took))
        os.rename(kept + ".part", kept)
    return took


before = resident()
engine = ENGINES[name]()
answer(build_or_load(engine))
del rows
gc.collect()

for line in sys.stdin:
    what, *numbers = line.split()
    if what == "bytes":
        answer(resident() - before)
        continue
    k, ef, seconds = int(numbers[0]), int(numbers[1]), float(numbers[2])
    if what == "search":
        numpy.asarray(engine.search(queries, k, ef)).astype("<i4").tofile(folder + "/found")
        answer(0)
        continue
    began = time.perf_counter()
    searches = 0
    while True:
        engine.search(queries, k, ef)
        searches += len(queries)
        elapsed = time.perf_counter() - began
        if elapsed >= seconds:
            break
    answer(searches / elapsed)
