package io.github.roost.lucene;

import io.github.roost.index.hnsw.graph.Graph;
import io.github.roost.lucene.memory.GraphCopies;
import io.github.roost.vector.FileFormatException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.apache.lucene.codecs.CodecUtil;
import org.apache.lucene.codecs.KnnVectorsReader;
import org.apache.lucene.codecs.hnsw.FlatVectorsReader;
import org.apache.lucene.codecs.hnsw.HnswGraphProvider;
import org.apache.lucene.index.ByteVectorValues;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.SegmentReadState;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.KnnCollector;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.apache.lucene.store.ChecksumIndexInput;
import org.apache.lucene.store.DataAccessHint;
import org.apache.lucene.store.FileDataHint;
import org.apache.lucene.store.FileTypeHint;
import org.apache.lucene.store.FilterIndexInput;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.MemorySegmentAccessInput;
import org.apache.lucene.store.PreloadHint;
import org.apache.lucene.util.Accountable;
import org.apache.lucene.util.IOUtils;
import org.apache.lucene.util.RamUsageEstimator;
import org.apache.lucene.util.hnsw.HnswGraph;
import org.apache.lucene.util.hnsw.RandomVectorScorer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads a segment. Graphs are searched in place if the directory maps files; otherwise they are copied off-heap.
 * Immutable; thread-safe.
 */
final class RoostVectorsReader extends KnnVectorsReader implements HnswGraphProvider, Accountable {
    private static final Logger LOG = LoggerFactory.getLogger(RoostVectorsReader.class);
    private static final long SHALLOW_BYTES = RamUsageEstimator.shallowSizeOfInstance(RoostVectorsReader.class);

    private final FieldInfos fieldInfos;
    private final int maxDoc;
    private final FlatVectorsReader flat;
    private final IndexInput graphs;
    private final Map<Integer, Field> fields;
    private final GraphCopies copies;

    /** A field and its graph or codes, if it has them. */
    record Field(GraphEntry entry, @Nullable Graph graph) {
        /** The graph; null if searches scan codes, or vectors. */
        @Nullable
        Graph linked() {
            return graph != null && graph.hasLinks() ? graph : null;
        }
    }

    private RoostVectorsReader(
            FieldInfos fieldInfos,
            int maxDoc,
            FlatVectorsReader flat,
            IndexInput graphs,
            Map<Integer, Field> fields,
            GraphCopies copies) {
        this.fieldInfos = fieldInfos;
        this.maxDoc = maxDoc;
        this.flat = flat;
        this.graphs = graphs;
        this.fields = fields;
        this.copies = copies;
    }

    static RoostVectorsReader open(SegmentReadState state) throws IOException {
        FlatVectorsReader flat = RoostVectorsFormat.FLAT.fieldsReader(state);
        GraphCopies copies = new GraphCopies();
        IndexInput graphs = null;
        try {
            Map<Integer, GraphEntry> entries = readEntries(state);
            graphs = openGraphs(state);
            Map<Integer, Field> fields = new HashMap<>();
            for (Map.Entry<Integer, GraphEntry> entry : entries.entrySet()) {
                FieldInfo field = state.fieldInfos.fieldInfo(entry.getKey());
                fields.put(
                        entry.getKey(),
                        new Field(entry.getValue(), graph(field.name, entry.getValue(), graphs, copies)));
            }
            return new RoostVectorsReader(
                    state.fieldInfos, state.segmentInfo.maxDoc(), flat, graphs, Map.copyOf(fields), copies);
        } catch (Throwable failure) {
            IOUtils.closeWhileSuppressingExceptions(failure, copies, graphs, flat);
            throw failure;
        }
    }

    private static Map<Integer, GraphEntry> readEntries(SegmentReadState state) throws IOException {
        String name = GraphFiles.name(state.segmentInfo, state.segmentSuffix, GraphFiles.META_EXTENSION);
        Map<Integer, GraphEntry> entries = new HashMap<>();
        try (ChecksumIndexInput meta = state.directory.openChecksumInput(name)) {
            Throwable failure = null;
            try {
                CodecUtil.checkIndexHeader(
                        meta,
                        GraphFiles.META_CODEC,
                        GraphFiles.FIRST_VERSION,
                        GraphFiles.VERSION,
                        state.segmentInfo.getId(),
                        state.segmentSuffix);
                readEntries(state.fieldInfos, meta, entries);
            } catch (Throwable thrown) {
                failure = thrown;
            } finally {
                CodecUtil.checkFooter(meta, failure);
            }
        }
        return entries;
    }

    private static void readEntries(FieldInfos fieldInfos, IndexInput meta, Map<Integer, GraphEntry> entries)
            throws IOException {
        for (int number = meta.readInt(); number != GraphFiles.END_OF_FIELDS; number = meta.readInt()) {
            FieldInfo field = number < 0 ? null : fieldInfos.fieldInfo(number);
            if (field == null) {
                throw new CorruptIndexException("there is no field of number " + number, meta);
            }
            GraphEntry entry = GraphEntry.read(meta);
            entry.require(field, meta);
            entries.put(number, entry);
        }
    }

    private static IndexInput openGraphs(SegmentReadState state) throws IOException {
        IndexInput graphs = state.directory.openInput(
                GraphFiles.name(state.segmentInfo, state.segmentSuffix, GraphFiles.GRAPH_EXTENSION),
                state.context.withHints(
                        FileTypeHint.DATA, FileDataHint.KNN_VECTORS, DataAccessHint.RANDOM, PreloadHint.INSTANCE));
        try {
            CodecUtil.checkIndexHeader(
                    graphs,
                    GraphFiles.GRAPH_CODEC,
                    GraphFiles.FIRST_VERSION,
                    GraphFiles.VERSION,
                    state.segmentInfo.getId(),
                    state.segmentSuffix);
            CodecUtil.retrieveChecksum(graphs);
            return graphs;
        } catch (Throwable failure) {
            IOUtils.closeWhileSuppressingExceptions(failure, graphs);
            throw failure;
        }
    }

    private static @Nullable Graph graph(String field, GraphEntry entry, IndexInput graphs, GraphCopies copies)
            throws IOException {
        if (entry.length() > graphs.length() - entry.offset()) {
            throw new CorruptIndexException(
                    "a graph of " + entry.length() + " bytes at " + entry.offset() + " is past the file's end at "
                            + graphs.length(),
                    graphs);
        }
        if (!entry.hasGraph()) {
            return null;
        }
        try {
            return Graph.open(
                    Path.of("graph"),
                    memory(field, entry, graphs, copies),
                    SearchSpace.metric(entry.similarity()),
                    entry.dimension(),
                    entry.count());
        } catch (FileFormatException damaged) {
            throw new CorruptIndexException(String.valueOf(damaged.getMessage()), graphs, damaged);
        }
    }

    /** The memory of a graph: the mapped one, or a copy if it is not mapped in one piece, or not aligned. */
    private static MemorySegment memory(String field, GraphEntry entry, IndexInput graphs, GraphCopies copies)
            throws IOException {
        if (FilterIndexInput.unwrapOnlyTest(graphs) instanceof MemorySegmentAccessInput access) {
            MemorySegment mapped = access.segmentSliceOrNull(entry.offset(), entry.length());
            if (mapped != null && Graph.canOpen(mapped)) {
                return mapped;
            }
            LOG.warn(
                    "{}: the graph of field \"{}\" is not mapped in one piece, so its {} bytes are copied off-heap; an"
                            + " MMapDirectory of larger chunks, or smaller segments, would avoid this",
                    graphs,
                    field,
                    entry.length());
        }
        return copies.copy(graphs, entry.offset(), entry.length(), GraphFiles.ALIGNMENT);
    }

    /** A reader for one merge; the resources it shares with this reader are closed with this reader. */
    @Override
    public KnnVectorsReader getMergeInstance() throws IOException {
        return new RoostVectorsReader(fieldInfos, maxDoc, flat.getMergeInstance(), graphs, fields, copies);
    }

    @Override
    public void finishMerge() throws IOException {
        flat.finishMerge();
    }

    @Override
    public void checkIntegrity() throws IOException {
        flat.checkIntegrity();
        CodecUtil.checksumEntireFile(graphs);
    }

    @Override
    public FloatVectorValues getFloatVectorValues(String field) throws IOException {
        return flat.getFloatVectorValues(field);
    }

    @Override
    public ByteVectorValues getByteVectorValues(String field) throws IOException {
        return flat.getByteVectorValues(field);
    }

    private Field field(String name) {
        FieldInfo info = fieldInfos.fieldInfo(name);
        Field field = info == null ? null : fields.get(info.number);
        if (field == null) {
            throw new IllegalArgumentException("field \"" + name + "\" has no vectors in this segment");
        }
        return field;
    }

    private Field field(String name, VectorEncoding requested, int dimension) {
        Field field = field(name);
        GraphEntry entry = field.entry();
        if (entry.encoding() != requested || entry.dimension() != dimension) {
            throw new IllegalArgumentException("field \"" + name + "\" has vectors of " + entry.dimension()
                    + " components, " + entry.encoding() + ", got a query of " + dimension + ", " + requested);
        }
        return field;
    }

    @Override
    public void search(String name, float[] target, KnnCollector collector, AcceptDocs acceptDocs) throws IOException {
        Field field = field(name, VectorEncoding.FLOAT32, target.length);
        if (field.entry().count() > 0 && collector.k() > 0) {
            float[] query = SearchSpace.query(field.entry().similarity(), target);
            search(field, flat.getRandomVectorScorer(name, target), query, collector, acceptDocs);
        }
    }

    @Override
    public void search(String name, byte[] target, KnnCollector collector, AcceptDocs acceptDocs) throws IOException {
        Field field = field(name, VectorEncoding.BYTE, target.length);
        if (field.entry().count() > 0 && collector.k() > 0) {
            float[] query = SearchSpace.query(field.entry().similarity(), target);
            search(field, flat.getRandomVectorScorer(name, target), query, collector, acceptDocs);
        }
    }

    private void search(
            Field field, RandomVectorScorer scorer, float[] query, KnnCollector collector, AcceptDocs acceptDocs)
            throws IOException {
        try {
            new SegmentSearch(field.graph(), scorer, maxDoc, collector, acceptDocs).run(query);
        } catch (FileFormatException damaged) {
            throw new CorruptIndexException(String.valueOf(damaged.getMessage()), graphs, damaged);
        }
    }

    /**
     * Whether a search of a field of floats scores all accepted vectors.
     *
     * @param accepted number of accepted vectors
     */
    boolean scans(String name, int k, @Nullable KnnSearchStrategy strategy, int accepted) {
        FieldInfo info = fieldInfos.fieldInfo(name);
        Field field = info == null ? null : fields.get(info.number);
        return field != null
                && field.entry().encoding() == VectorEncoding.FLOAT32
                && field.entry().count() > 0
                && SegmentSearch.scans(
                        field.graph(),
                        k,
                        strategy,
                        Math.min(accepted, field.entry().count()));
    }

    /** Scores all accepted vectors for several targets, and reads each once. */
    void scan(String name, float[][] targets, KnnCollector[] collectors, AcceptDocs acceptDocs) throws IOException {
        Field field = field(name);
        SegmentSearch[] searches = new SegmentSearch[targets.length];
        for (int i = 0; i < targets.length; i++) {
            field(name, VectorEncoding.FLOAT32, targets[i].length);
            searches[i] = new SegmentSearch(
                    field.graph(), flat.getRandomVectorScorer(name, targets[i]), maxDoc, collectors[i], acceptDocs);
        }
        int[] ordinals = new int[SegmentSearch.RUN];
        OrdinalRuns runs = searches[0].ordinalsToScan();
        for (int count = runs.next(ordinals); count > 0; count = runs.next(ordinals)) {
            for (SegmentSearch search : searches) {
                search.collectRun(ordinals, count);
            }
        }
    }

    @Override
    public HnswGraph getGraph(String name) throws IOException {
        Graph graph = field(name).linked();
        try {
            return graph == null ? HnswGraph.EMPTY : OrdinalGraph.of(graph);
        } catch (FileFormatException damaged) {
            throw new CorruptIndexException(String.valueOf(damaged.getMessage()), graphs, damaged);
        }
    }

    @Override
    public Map<String, Long> getOffHeapByteSize(FieldInfo fieldInfo) {
        Field field = field(fieldInfo.name);
        String what = field.linked() != null ? GraphFiles.GRAPH_EXTENSION : GraphFiles.CODES_ALONE;
        return mergeOffHeapByteSizeMaps(
                flat.getOffHeapByteSize(fieldInfo), Map.of(what, field.entry().length()));
    }

    /** Includes off-heap copies of graphs, which a mapped segment does not need. */
    @Override
    public long ramBytesUsed() {
        return SHALLOW_BYTES + RamUsageEstimator.sizeOfMap(fields) + flat.ramBytesUsed() + copies.bytes();
    }

    @Override
    public void close() throws IOException {
        IOUtils.close(flat, graphs, copies);
    }
}
