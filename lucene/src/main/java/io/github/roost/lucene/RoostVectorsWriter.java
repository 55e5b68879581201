package io.github.roost.lucene;

import io.github.roost.index.hnsw.graph.CodedRows;
import io.github.roost.index.hnsw.graph.Graph;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.codecs.CodecUtil;
import org.apache.lucene.codecs.KnnFieldVectorsWriter;
import org.apache.lucene.codecs.KnnVectorsWriter;
import org.apache.lucene.codecs.hnsw.FlatVectorsReader;
import org.apache.lucene.codecs.hnsw.FlatVectorsWriter;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.MergeState;
import org.apache.lucene.index.SegmentReadState;
import org.apache.lucene.index.SegmentWriteState;
import org.apache.lucene.index.Sorter;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.IndexOutput;
import org.apache.lucene.util.IORunnable;
import org.apache.lucene.util.IOUtils;
import org.apache.lucene.util.RamUsageEstimator;
import org.apache.lucene.util.hnsw.HnswGraphBuilder;
import org.apache.lucene.util.hnsw.IncrementalHnswGraphMerger;
import org.apache.lucene.util.hnsw.OnHeapHnswGraph;
import org.apache.lucene.util.hnsw.RandomVectorScorerSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes a segment: first all vectors, then the graph of each field, built from the vectors in the written file. So a flush and a
 * merge share the code, whatever the order of documents; a merge starts from the segments' graphs. A small segment, such as a refresh
 * waits for, has only the codes of a graph. Used by one thread.
 */
final class RoostVectorsWriter extends KnnVectorsWriter {
    private static final long SHALLOW_BYTES = RamUsageEstimator.shallowSizeOfInstance(RoostVectorsWriter.class);

    private final SegmentWriteState state;
    private final int maxConn;
    private final int beamWidth;
    private final MinSizes minSizes;
    private final GraphBuilds builds;
    private final FlatVectorsWriter flatWriter;
    private final IndexOutput meta;
    private final IndexOutput graphs;
    private final List<FieldInfo> fields = new ArrayList<>();
    /** Reads the vectors, once all are written. */
    private @Nullable FlatVectorsReader flatReader;

    private boolean flatClosed;
    private boolean finished;

    private RoostVectorsWriter(
            SegmentWriteState state,
            int maxConn,
            int beamWidth,
            MinSizes minSizes,
            GraphBuilds builds,
            FlatVectorsWriter flatWriter,
            IndexOutput meta,
            IndexOutput graphs) {
        this.state = state;
        this.maxConn = maxConn;
        this.beamWidth = beamWidth;
        this.minSizes = minSizes;
        this.builds = builds;
        this.flatWriter = flatWriter;
        this.meta = meta;
        this.graphs = graphs;
    }

    static RoostVectorsWriter open(
            SegmentWriteState state, int maxConn, int beamWidth, MinSizes minSizes, GraphBuilds builds)
            throws IOException {
        FlatVectorsWriter flat = RoostVectorsFormat.FLAT.fieldsWriter(state);
        IndexOutput meta = null;
        IndexOutput graphs = null;
        try {
            meta = create(state, GraphFiles.META_EXTENSION, GraphFiles.META_CODEC);
            graphs = create(state, GraphFiles.GRAPH_EXTENSION, GraphFiles.GRAPH_CODEC);
            return new RoostVectorsWriter(state, maxConn, beamWidth, minSizes, builds, flat, meta, graphs);
        } catch (Throwable failure) {
            IOUtils.closeWhileSuppressingExceptions(failure, meta, graphs, flat);
            throw failure;
        }
    }

    private static IndexOutput create(SegmentWriteState state, String extension, String codec) throws IOException {
        IndexOutput output = state.directory.createOutput(
                GraphFiles.name(state.segmentInfo, state.segmentSuffix, extension), state.context);
        try {
            CodecUtil.writeIndexHeader(
                    output, codec, GraphFiles.VERSION, state.segmentInfo.getId(), state.segmentSuffix);
            return output;
        } catch (Throwable failure) {
            IOUtils.closeWhileSuppressingExceptions(failure, output);
            throw failure;
        }
    }

    @Override
    public KnnFieldVectorsWriter<?> addField(FieldInfo fieldInfo) throws IOException {
        fields.add(fieldInfo);
        KnnFieldVectorsWriter<?> flat = flatWriter.addField(fieldInfo);
        return fieldInfo.getVectorSimilarityFunction() == VectorSimilarityFunction.COSINE
                ? new CosineVectors<>(fieldInfo.name, flat)
                : flat;
    }

    @Override
    public void flush(int maxDoc, Sorter.@Nullable DocMap sortMap) throws IOException {
        flatWriter.flush(maxDoc, sortMap);
        for (FieldInfo field : fields) {
            writeField(field, null);
        }
    }

    @Override
    public IORunnable mergeOneField(FieldInfo fieldInfo, MergeState mergeState) throws IOException {
        flatWriter.mergeOneFlatVectorField(fieldInfo, mergeState);
        return () -> writeField(fieldInfo, mergeState);
    }

    /** Writes a field's graph, or codes, if it has enough vectors, and its entry. */
    private void writeField(FieldInfo field, @Nullable MergeState mergeState) throws IOException {
        FlatVectorsReader flat = flatReader();
        KnnVectorValues values = switch (field.getVectorEncoding()) {
            case BYTE -> flat.getByteVectorValues(field.name);
            case FLOAT32 -> flat.getFloatVectorValues(field.name);
        };
        int count = values.size();
        long offset = graphs.alignFilePointer(GraphFiles.ALIGNMENT);
        long length = minSizes.hasCodes(count) ? writeGraph(field, flat, values, mergeState) : 0;
        new GraphEntry(
                        field.getVectorEncoding(),
                        field.getVectorSimilarityFunction(),
                        field.getVectorDimension(),
                        count,
                        offset,
                        length)
                .write(field.number, meta);
    }

    private long writeGraph(
            FieldInfo field, FlatVectorsReader flat, KnnVectorValues values, @Nullable MergeState mergeState)
            throws IOException {
        boolean linked = minSizes.hasGraph(values.size(), mergeState);
        try (Arena arena = linked ? Arena.ofShared() : Arena.ofConfined()) {
            Graph graph = linked
                    ? builds.run(betweenPieces -> build(field, flat, values, mergeState, arena, betweenPieces))
                    : codes(field, values, arena);
            // In the calling thread: Lucene lets only a merge's own thread wait for its turn to write.
            return graph.write(new ByteOutput(graphs)::write);
        }
    }

    /** In the calling thread: it takes milliseconds, and a refresh may wait for it. */
    private static Graph codes(FieldInfo field, KnnVectorValues values, Arena arena) throws IOException {
        try (CodedRows rows = SearchSpace.encode(field, values, true, () -> {})) {
            return Graph.withoutLinks(rows, values::ordToDoc, arena);
        }
    }

    private Graph build(
            FieldInfo field,
            FlatVectorsReader flat,
            KnnVectorValues values,
            @Nullable MergeState mergeState,
            Arena arena,
            Runnable betweenPieces)
            throws IOException {
        VectorSimilarityFunction similarity = field.getVectorSimilarityFunction();
        try (CodedRows rows = SearchSpace.encode(field, values, false, betweenPieces)) {
            RandomVectorScorerSupplier scores = new YieldingScores(
                    flat.getFlatVectorScorer(field.name).getRandomVectorScorerSupplier(similarity, values),
                    betweenPieces);
            OnHeapHnswGraph built =
                    mergeState == null ? build(scores, values.size()) : merge(field, scores, values, mergeState);
            BuiltByLucene links = new BuiltByLucene(built, betweenPieces);
            return Graph.of(links, links.degree(), rows, row -> row, values::ordToDoc, arena);
        }
    }

    private OnHeapHnswGraph build(RandomVectorScorerSupplier scores, int count) throws IOException {
        HnswGraphBuilder builder =
                HnswGraphBuilder.create(scores, maxConn, beamWidth, HnswGraphBuilder.randSeed, count);
        builder.setInfoStream(state.infoStream);
        return builder.build(count);
    }

    /** Merges graphs with Lucene's merger, which starts from the largest graph and joins the others that have no deletes. */
    private OnHeapHnswGraph merge(
            FieldInfo field, RandomVectorScorerSupplier scores, KnnVectorValues values, MergeState mergeState)
            throws IOException {
        IncrementalHnswGraphMerger merger = new IncrementalHnswGraphMerger(field, scores, maxConn, beamWidth);
        for (int i = 0; i < mergeState.liveDocs.length; i++) {
            if (MergedVectorValues.hasVectorValues(mergeState.fieldInfos[i], field.name)) {
                merger.addReader(mergeState.knnVectorsReaders[i], mergeState.docMaps[i], mergeState.liveDocs[i]);
            }
        }
        return merger.merge(values, state.infoStream, values.size());
    }

    /** Reads the written vectors; the first call closes the writer. */
    private FlatVectorsReader flatReader() throws IOException {
        FlatVectorsReader reader = flatReader;
        if (reader == null) {
            flatWriter.finish();
            flatWriter.close();
            flatClosed = true;
            reader = RoostVectorsFormat.FLAT.fieldsReader(new SegmentReadState(
                    state.directory, state.segmentInfo, fieldInfos(), state.context, state.segmentSuffix));
            flatReader = reader;
        }
        return reader;
    }

    /** The fields of the segment. During a flush they are not set yet; the vector fields are enough. */
    private FieldInfos fieldInfos() {
        return state.fieldInfos != null ? state.fieldInfos : new FieldInfos(fields.toArray(FieldInfo[]::new));
    }

    @Override
    public void finish() throws IOException {
        if (finished) {
            throw new IllegalStateException("already finished");
        }
        finished = true;
        if (!flatClosed) {
            flatWriter.finish();
        }
        meta.writeInt(GraphFiles.END_OF_FIELDS);
        CodecUtil.writeFooter(meta);
        CodecUtil.writeFooter(graphs);
    }

    @Override
    public long ramBytesUsed() {
        return SHALLOW_BYTES + flatWriter.ramBytesUsed();
    }

    @Override
    public void close() throws IOException {
        IOUtils.close(meta, graphs, flatReader, flatClosed ? null : flatWriter);
    }

    /** Appends off-heap buffers to a Lucene file, which accepts only arrays, through an array. */
    private record ByteOutput(IndexOutput output, byte[] room) {
        ByteOutput(IndexOutput output) {
            this(output, new byte[1 << 16]);
        }

        void write(ByteBuffer piece) throws IOException {
            while (piece.hasRemaining()) {
                int count = Math.min(room.length, piece.remaining());
                piece.get(room, 0, count);
                output.writeBytes(room, count);
            }
        }
    }
}
