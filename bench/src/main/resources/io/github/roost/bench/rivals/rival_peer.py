"""Graph and IVF libraries of others as peers: builds an index of FOLDER/rows, then obeys orders on standard input.

Arguments: FOLDER DIMENSION NAME l2|ip M EF_CONSTRUCTION NLIST BUILD_THREADS SEARCH_THREADS [KEPT]. Prints the seconds that the build took,
or the word failed and why.
With KEPT the index is saved there, or, where KEPT is there, loaded from it and the seconds that its build took printed.
Order "bytes": prints by how much the process has grown by the index, in bytes.
Order "search K EF 0": the ids found for FOLDER/queries go to FOLDER/found as 32-bit integers; prints 0.
Order "rate K EF SECONDS": searches for all queries over and over; prints searches per second. All queries are one batch,
which the library distributes to its threads.
Order "alone K EF SECONDS": the same with one query after the other.
EF is the parameter that a library has in its place: for lists, the number of lists that a search probes.
NGT-QG is not here, as the wheel of NGT cannot build it.
"""
import concurrent.futures
import gc
import os
import shutil
import sys
import time

import numpy

folder, name, metric = sys.argv[1], sys.argv[3], sys.argv[4]
dimension, m, ef_construction, nlist, build_threads, threads = map(int, sys.argv[2:3] + sys.argv[5:10])
kept = sys.argv[10] if len(sys.argv) > 10 else None
by_product = metric == "ip"
searching = concurrent.futures.ThreadPoolExecutor(threads)


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

        self.index = hnswlib.Index(space=metric, dim=dimension)
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
    def build_as(self, description, rows):
        import faiss

        faiss.omp_set_num_threads(build_threads)
        self.index = faiss.index_factory(
            dimension, description, faiss.METRIC_INNER_PRODUCT if by_product else faiss.METRIC_L2)
        self.tune()
        self.index.train(rows)
        self.index.add(rows)
        faiss.omp_set_num_threads(threads)

    def tune(self):
        pass

    def save(self, path):
        import faiss

        faiss.write_index(self.index, path + "/index")

    def load(self, path, rows):
        import faiss

        self.index = faiss.read_index(path + "/index")
        faiss.omp_set_num_threads(threads)


class FaissHnsw(Faiss):
    def build(self, rows):
        self.build_as("HNSW%d,Flat" % m, rows)

    def tune(self):
        self.index.hnsw.efConstruction = ef_construction

    def search(self, queries, k, ef):
        self.index.hnsw.efSearch = ef
        return self.index.search(queries, k)[1]


class FaissIvf(Faiss):
    def build(self, rows):
        self.build_as("IVF%d,Flat" % nlist, rows)

    def search(self, queries, k, ef):
        self.index.nprobe = min(ef, nlist)
        # Mode 1 distributes the lists of each query to the threads, mode 0 the queries.
        self.index.parallel_mode = 1 if len(queries) == 1 else 0
        return self.index.search(queries, k)[1]


class FaissIvfRabitq(Faiss):
    """4 k of the rows found by codes are compared by vectors."""

    def build(self, rows):
        self.build_as("IVF%d,RaBitQfs,Refine(Flat)" % nlist, rows)

    def search(self, queries, k, ef):
        import faiss

        inner = faiss.SearchParametersIVF(nprobe=min(ef, nlist))
        parameters = faiss.IndexRefineSearchParameters(k_factor=4, base_index_params=inner)
        return self.index.search(queries, k, params=parameters)[1]


class RabitqIvf:
    """Its k-means counts as a part of the build."""

    def __init__(self, bits):
        self.bits = bits

    def build(self, rows):
        import rabitqlib

        clusters = rabitqlib.RaBitQKMeans(dimension, nlist, num_threads=build_threads)
        clusters.train(rows)
        self.index = rabitqlib.IvfIndex(dimension, len(rows), nlist, self.bits, metric)
        self.index.build(rows, clusters.centroids, clusters.assignments, build_threads)

    def save(self, path):
        self.index.save(path + "/index")

    def load(self, path, rows):
        import rabitqlib

        self.index = rabitqlib.IvfIndex.load(path + "/index")

    def search(self, queries, k, ef):
        found = self.index.search(queries, k, min(ef, nlist), num_threads=threads)
        return [part for part in found if numpy.asarray(part).dtype.kind in "iu"][0]


class Scann:
    """4-bit codes of pairs of components; 10 k of the rows found by codes are compared by vectors."""

    def build(self, rows):
        from scann.scann_ops.py import scann_ops_pybind as scann

        self.index = (
            scann.builder(rows, 10, "dot_product" if by_product else "squared_l2")
            .tree(num_leaves=nlist, num_leaves_to_search=1, training_sample_size=len(rows))
            .score_ah(2, anisotropic_quantization_threshold=0.2 if by_product else float("nan"))
            .reorder(100)
            .set_n_training_threads(build_threads)
            .build())
        self.index.set_num_threads(threads)

    def save(self, path):
        self.index.serialize(path)

    def load(self, path, rows):
        from scann.scann_ops.py import scann_ops_pybind as scann

        self.index = scann.load_searcher(path)
        self.index.set_num_threads(threads)

    def search(self, queries, k, ef):
        if len(queries) == 1:
            found = self.index.search(queries[0], k, 10 * k, min(ef, nlist))
            return found[0][None]
        return self.index.search_batched_parallel(queries, k, 10 * k, min(ef, nlist))[0]


class Usearch:
    def build(self, rows):
        self.make()
        self.index.add(numpy.arange(len(rows)), rows, threads=build_threads)

    def make(self):
        from usearch.index import Index

        self.index = Index(ndim=dimension, metric="ip" if by_product else "l2sq", dtype="f32", connectivity=m, expansion_add=ef_construction)

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
        graph = glass.Index("HNSW", metric.upper(), "FP32", 2 * m, ef_construction).build(rows)
        if kept is not None:
            # A searcher takes the graph's content.
            graph.save(folder + "/graph")
        self.use(graph, rows)

    def use(self, graph, rows):
        import glass

        self.searcher = glass.Searcher(graph, rows, metric.upper(), "SQ8U", "FP32")
        self.searcher.set_ef(64)
        self.searcher.optimize(threads)

    def save(self, path):
        shutil.move(folder + "/graph", path + "/graph")

    def load(self, path, rows):
        import glass

        graph = glass.Graph()
        graph.load(path + "/graph", "glass")
        self.use(graph, rows)

    def search(self, queries, k, ef):
        self.searcher.set_ef(ef)
        found = self.searcher.batch_search(queries, k, threads)
        return numpy.asarray(found[0] if isinstance(found, tuple) else found).reshape(len(queries), -1)[:, :k]


class SvsLvq:
    PARTS = ("config", "graph", "data")

    def build(self, rows):
        import svs

        distance = svs.DistanceType.MIP if by_product else svs.DistanceType.L2
        parameters = svs.VamanaBuildParameters(
            graph_max_degree=2 * m, window_size=ef_construction, alpha=0.95 if by_product else 1.2)
        floats = svs.Vamana.build(parameters, rows, distance, num_threads=build_threads)
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
            path + "/config", svs.GraphLoader(path + "/graph"), loader,
            svs.DistanceType.MIP if by_product else svs.DistanceType.L2, num_threads=threads)

    def search(self, queries, k, ef):
        self.index.search_window_size = ef
        return self.index.search(queries, k)[0]


class SymphonyQg:
    """Zeros are appended to vectors of less than 64 components, which it refuses."""

    def __init__(self, bits):
        self.bits = bits

    def padded(self, vectors):
        return numpy.pad(vectors, ((0, 0), (0, 64 - dimension))) if dimension < 64 else vectors

    def build(self, rows):
        import rabitqlib

        self.index = rabitqlib.SymqgIndex(max(64, dimension), 2 * m, metric, self.bits)
        self.index.build(self.padded(rows), ef_construction, build_threads)

    def save(self, path):
        self.index.save(path + "/index")

    def load(self, path, rows):
        import rabitqlib

        self.index = rabitqlib.SymqgIndex.load(path + "/index")

    def search(self, queries, k, ef):
        found = self.index.search_batch(self.padded(queries), k, ef, threads)
        return [part for part in found if numpy.asarray(part).dtype.kind in "iu"][0]


class DegQg:
    """deglib's exploration graph: its search compares 8-bit codes, then 1.5 k of the rows found by 16-bit floats."""

    def build(self, rows):
        import deglib

        self.name_spaces(deglib)
        order = deglib.optimization.presort(rows, metric=self.floats, threads=build_threads)
        graph = deglib.build_from_data(
            rows[order], labels=order, edges_per_vertex=2 * m, metric=self.floats, seed=7, thread_count=build_threads)
        if kept is not None:
            # The searched graph cannot be saved.
            graph.save_graph(folder + "/graph")
        self.use(deglib, graph, rows)

    def name_spaces(self, deglib):
        kind = "InnerProduct" if by_product else "L2"
        self.floats, self.bytes, self.halves = (deglib.Metric[part + "_" + kind] for part in ("FP32", "Int8", "FP16"))

    def use(self, deglib, graph, rows):
        quantizer = deglib.optimization.make_scalar_quantizer_int8(rows)
        codes = quantizer.quantize(rows, num_threads=build_threads)
        self.searcher = deglib.search.create_searcher(
            graph=graph.to_readonly(deglib.FloatSpace.create(dim=dimension, metric=self.bytes), codes),
            quantizer=quantizer,
            refine_space=deglib.FloatSpace.create(dim=dimension, metric=self.halves),
            refine_data=deglib.distances.floats_to_fp16(rows))
        self.searcher.optimize(num_threads=build_threads)

    def save(self, path):
        shutil.move(folder + "/graph", path + "/graph")

    def load(self, path, rows):
        import deglib

        self.name_spaces(deglib)
        self.use(deglib, deglib.graph.load_mutable_graph(path + "/graph"), rows)

    def search(self, queries, k, ef):
        found = self.searcher.search(queries, k, eps_or_ef=ef, rerank_factor=1.5, threads=threads, unsorted=True)
        return found.reshape(len(queries), -1)


class Alaya:
    def __init__(self, codes):
        self.codes = codes

    def build(self, rows):
        from alayalite import Index
        from alayalite.schema import IndexParams

        self.index = Index("index", IndexParams(
            index_type="hnsw", metric=metric, quantization_type=self.codes, capacity=len(rows), max_nbrs=2 * m))
        self.index.fit(rows, ef_construction=ef_construction, num_threads=build_threads)

    def save(self, path):
        from alayalite.schema import save_schema

        schema = self.index.save(path + "/index")
        save_schema(path + "/index/schema.json", schema)

    def load(self, path, rows):
        from alayalite import Index

        self.index = Index.load(path, "index")

    def search(self, queries, k, ef):
        return self.index.batch_search(queries, k, ef, threads)


class Zvec:
    """8-bit codes, then vectors; a call of Python per query, on its own threads."""

    def build(self, rows):
        import zvec

        self.start(zvec)
        parameters = zvec.HnswIndexParam(
            metric_type=zvec.MetricType.IP if by_product else zvec.MetricType.L2, m=2 * m,
            ef_construction=ef_construction, quantize_type=zvec.QuantizeType.INT8, use_contiguous_memory=True)
        vectors = zvec.VectorSchema("vector", zvec.DataType.VECTOR_FP32, dimension, index_param=parameters)
        rows_of = zvec.create_and_open(folder + "/index", zvec.CollectionSchema(name="rows", vectors=vectors))
        for first in range(0, len(rows), 1000):
            part = rows[first : first + 1000]
            rows_of.insert([zvec.Doc(id=str(first + i), vectors={"vector": row}) for i, row in enumerate(part)])
        rows_of.optimize()
        rows_of.flush()
        del rows_of
        gc.collect()
        self.open(zvec, folder + "/index")

    def start(self, zvec):
        zvec.init(log_level=zvec.LogLevel.ERROR, query_threads=threads, optimize_threads=build_threads)

    def open(self, zvec, path):
        self.rows = zvec.open(path, zvec.CollectionOption(read_only=True))

    def save(self, path):
        shutil.copytree(folder + "/index", path + "/index")

    def load(self, path, rows):
        import zvec

        self.start(zvec)
        shutil.copytree(path + "/index", folder + "/index")
        self.open(zvec, folder + "/index")

    def search(self, queries, k, ef):
        import zvec

        parameters = zvec.HnswQueryParam(ef=ef, is_using_refiner=True)
        return one_by_one(
            lambda query: self.rows.query_internal_ids(
                zvec.Query(field_name="vector", vector=query, param=parameters), topk=k),
            queries,
            k)


def one_by_one(search, queries, k):
    """Calls a search that takes one query, on as many threads as there are searches."""
    found = numpy.full((len(queries), k), -1, dtype="<i4")

    def some(first):
        for query in range(first, len(queries), threads):
            ids = search(queries[query])
            found[query, : len(ids)] = ids

    if threads == 1 or len(queries) == 1:
        for first in range(threads):
            some(first)
    else:
        list(searching.map(some, range(threads)))
    return found


ENGINES = {
    "hnswlib": Hnswlib,
    "faiss-hnsw": FaissHnsw,
    "faiss-ivf": FaissIvf,
    "faiss-ivf-rabitq": FaissIvfRabitq,
    "rabitq-ivf-4bit": lambda: RabitqIvf(4),
    "rabitq-ivf-8bit": lambda: RabitqIvf(8),
    "scann": Scann,
    "usearch": Usearch,
    "glass-sq8": GlassSq8,
    "svs-lvq4x8": SvsLvq,
    "symphonyqg": lambda: SymphonyQg(0),
    "symphonyqg-4bit": lambda: SymphonyQg(4),
    "symphonyqg-8bit": lambda: SymphonyQg(8),
    "deglib": DegQg,
    "alayalite": lambda: Alaya("none"),
    "alayalite-sq8": lambda: Alaya("sq8"),
    "zvec": Zvec,
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
try:
    answer(build_or_load(engine))
except Exception as failure:
    answers.write("failed %s\n" % " ".join(repr(failure).split()))
    sys.exit(1)
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
    batches = [queries[i : i + 1] for i in range(len(queries))] if what == "alone" else [queries]
    began = time.perf_counter()
    searches = 0
    while True:
        batch = batches[searches % len(batches)]
        engine.search(batch, k, ef)
        searches += len(batch)
        elapsed = time.perf_counter() - began
        if elapsed >= seconds:
            break
    answer(searches / elapsed)
