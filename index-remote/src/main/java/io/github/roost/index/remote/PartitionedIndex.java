package io.github.roost.index.remote;

import static io.github.roost.index.remote.Bytes.LONG;

import io.github.roost.core.Metric;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Vectors;
import io.github.roost.core.file.Checksum;
import io.github.roost.core.file.WholeFile;
import io.github.roost.core.vector.BuildWork;
import io.github.roost.core.vector.RecallSample;
import io.github.roost.core.vector.TableBuild;
import io.github.roost.core.vector.VectorSource;
import io.github.roost.index.hnsw.HnswGraph;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Builds pools: the file of a region with the partitions of one table. Each partition is an HNSW graph with its rows, contiguous, so
 * that one read fetches it; two neighbouring partitions share a gap that takes a log of changes from both ends, so that a partition
 * and its log are one read too. A graph of the partitions' centroids names those that a query visits (after Liu, Fang and Qian,
 * "Efficient Vector Search on Disaggregated Memory with d-HNSW", HotStorage 2025).
 *
 * <pre>{@code
 * PartitionedIndex.builder().partitions(160).build(orchestrator, ids, rows, Path.of("/dev/shm/products.pool"));
 * }</pre>
 *
 * <p>Not thread-safe.
 */
public final class PartitionedIndex {
    private static final int MAX_RECORDS = 65_535;
    private static final int MIN_RECORDS = 64;
    /** Rows that tables measure a recall with. */
    private static final int SAMPLE = 64;

    /** And by which the build measures how many partitions a search is to visit. */
    private static final int MEASURED = 512;

    private static final int MAX_QUERIES = 1_024;
    private static final int ROWS_PER_CHECK = 256;
    private static final int ROWS_PER_PARTITION = 6_250;
    /** How much of a build is done when rows are checked, and when it is known which go where. */
    private static final double READ = .02;

    private static final double PARTITIONED = .2;
    private static final long PAGE = 4_096;
    private static final double MAX_SPARE = 10;

    private Metric metric = Metric.SQUARED_L2;
    private int partitions;
    /** 0: measured. */
    private int visited;

    private double targetRecall = .95;
    private float @Nullable [][] queries;
    private int m = 16;
    private int efConstruction = 120;
    private double gap = .1;
    private double boundary;
    private double spare = .25;
    private Duration lease = Duration.ofSeconds(2);
    private long seed = 42;

    private PartitionedIndex() {}

    /** {@return a builder with every option at its default} */
    public static PartitionedIndex builder() {
        return new PartitionedIndex();
    }

    /**
     * Sets how distances are measured.
     *
     * @param value {@link Metric#SQUARED_L2}, the default, or {@link Metric#COSINE}
     * @return this builder
     * @throws IllegalArgumentException for {@link Metric#INNER_PRODUCT}, whose nearest rows are in no partition near the query
     */
    public PartitionedIndex metric(Metric value) {
        if (value == Metric.INNER_PRODUCT) {
            throw new IllegalArgumentException(
                    "metric of a partitioned index must be SQUARED_L2 or COSINE, got INNER_PRODUCT");
        }
        this.metric = value;
        return this;
    }

    /**
     * Sets how many partitions there are.
     *
     * @param value from 1 to 10,000 and the number of rows; default one per 6,250 rows
     * @return this builder
     */
    public PartitionedIndex partitions(int value) {
        Vectors.requireRange("partitions", value, 1, PoolHead.MAX_PARTITIONS);
        this.partitions = value;
        return this;
    }

    /**
     * Sets the default number of partitions per search. If it is not set, the build measures how many reach the {@linkplain #targetRecall
     * target recall}.
     *
     * @param value from 1 to 10,000, or all where there are fewer
     * @return this builder
     */
    public PartitionedIndex visited(int value) {
        Vectors.requireRange("visited partitions", value, 1, PoolHead.MAX_PARTITIONS);
        this.visited = value;
        return this;
    }

    /**
     * Sets the share of the 10 nearest rows that a search with the default number of partitions finds: the build measures that number on 512 of
     * the rows, with which no centroid was trained, or on {@link #queries}. {@link #visited} sets the number itself.
     *
     * @param value over 0, at most 1; default .95
     * @return this builder
     */
    public PartitionedIndex targetRecall(double value) {
        this.targetRecall = RecallSample.requireRecall(value);
        return this;
    }

    /**
     * Sets queries by which the build measures how many partitions the {@linkplain #targetRecall target recall} takes, in place of some of
     * its rows: those that come later are of their distribution.
     *
     * @param value from 1 to 1,024, each of the rows' dimension, finite, not zero for cosine; must not change until the build has ended
     * @return this builder
     */
    public PartitionedIndex queries(float[][] value) {
        Vectors.requireRange("queries", value.length, 1, MAX_QUERIES);
        this.queries = value.clone();
        return this;
    }

    /**
     * Sets how many neighbours a row keeps in an upper layer, twice as many in layer 0.
     *
     * @param value from 2 to 256; default 16
     * @return this builder
     */
    public PartitionedIndex m(int value) {
        Vectors.requireRange("m", value, 2, 256);
        this.m = value;
        return this;
    }

    /**
     * Sets the width of the searches that find a new row's neighbours.
     *
     * @param value from 1 to 10,000; default 120
     * @return this builder
     */
    public PartitionedIndex efConstruction(int value) {
        Vectors.requireRange("efConstruction", value, 1, 10_000);
        this.efConstruction = value;
        return this;
    }

    /**
     * Sets the size of the gap that a pair of partitions shares for its logs.
     *
     * @param value as a share of the pair's bytes, from 0 (64 changes all the same) to 1; default .1
     * @return this builder
     */
    public PartitionedIndex gap(double value) {
        this.gap = requireShare("gap", value);
        return this;
    }

    /**
     * Sets how many rows are in a second partition too: those that are nearly as near to another centroid. Searches that visit few
     * partitions find more of the true neighbours, and partitions are that much larger.
     *
     * @param value as a share of the rows, from 0, the default, to 1
     * @return this builder
     */
    public PartitionedIndex boundary(double value) {
        this.boundary = requireShare("boundary", value);
        return this;
    }

    /**
     * Sets how much space there is for pairs that are built anew when their log is full; there is room for three pairs in any case.
     * Space that was never written takes no memory.
     *
     * @param value as a share of the partitions' bytes, from 0 to 10; default .25. A pool whose rows become more needs as much as they
     *     are to grow
     * @return this builder
     */
    public PartitionedIndex spare(double value) {
        if (!(value >= 0 && value <= MAX_SPARE)) {
            throw new IllegalArgumentException("spare must be between 0 and 10, got " + value);
        }
        this.spare = value;
        return this;
    }

    /**
     * Sets how long a writer's lease and a reader's hold of an epoch last without renewal. The successor of a writer that has died
     * waits as long; a writer that was stopped for longer is fenced.
     *
     * @param value from 50 ms to an hour; default 2 seconds
     * @return this builder
     */
    public PartitionedIndex lease(Duration value) {
        Vectors.requireRange(
                "lease in milliseconds", value.toMillis(), PoolHead.MIN_LEASE_MILLIS, PoolHead.MAX_LEASE_MILLIS);
        this.lease = value;
        return this;
    }

    /**
     * Sets the seed of the centroids' training.
     *
     * @param value any number
     * @return this builder
     */
    public PartitionedIndex seed(long value) {
        this.seed = value;
        return this;
    }

    private static double requireShare(String what, double value) {
        if (!(value >= 0 && value <= 1)) {
            throw new IllegalArgumentException(what + " must be between 0 and 1, got " + value);
        }
        return value;
    }

    /**
     * A pool that was built.
     *
     * @param partitions how many there are
     * @param rows how many rows there are, those in two partitions counted once
     * @param largestBytes of a partition with its graph, which is what one read fetches
     * @param bytes of the region, spare space included
     * @param visited partitions that a search visits which does not say
     * @param recall the share of the nearest rows of the sample that are in those; not a number where {@link #visited(int)} was set
     */
    public record Pool(int partitions, int rows, long largestBytes, long bytes, int visited, double recall) {}

    /**
     * Builds a pool on the orchestrator's workers, as batch work beside what they serve, and waits for it.
     *
     * @param orchestrator builds it
     * @param ids one external id per row, none twice
     * @param rows at least one, of 1 to 4,096 dimensions, finite, not zero for cosine; read several times
     * @param file to write or replace: whatever happens meanwhile, the old file or the new one is there, whole
     * @return what was built
     * @throws IOException if the file cannot be written
     * @throws IllegalArgumentException if a row, an id or an option is invalid
     */
    public Pool build(Orchestrator orchestrator, long[] ids, VectorSource rows, Path file) throws IOException {
        int count = count(ids, rows);
        return build(orchestrator, work(orchestrator, file), ids, rows, count, file);
    }

    /**
     * Begins to build a pool and open it from its file, on the orchestrator's workers, as batch work beside what they serve. This
     * builder must not be changed meanwhile.
     *
     * @param orchestrator builds the pool, and places the table
     * @param name under which the table shows in reports
     * @param ids one external id per row, none twice; must not change during the build
     * @param rows at least one, of 1 to 4,096 dimensions; a row that is not finite, or zero for cosine, fails the build
     * @param file to write or replace
     * @param options of the table
     * @return under way; its result is to be closed
     * @throws IllegalArgumentException if ids, dimension or an option is invalid
     */
    public TableBuild<RemoteTable> start(
            Orchestrator orchestrator,
            String name,
            long[] ids,
            VectorSource rows,
            Path file,
            RemoteTable.Builder options) {
        int count = count(ids, rows);
        Path place = file.toAbsolutePath();
        return TableBuild.start(work(orchestrator, file), work -> {
            try {
                build(orchestrator, work, ids, rows, count, place);
                return options.open(
                        orchestrator,
                        name,
                        new MappedMemory(Objects.requireNonNull(place.getParent(), "a file is in a folder")),
                        place.getFileName().toString());
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        });
    }

    /** Some of the rows by their numbers; of more of them the first are the same. */
    private int[] sample(int size, int most) {
        return new Random(seed)
                .ints(0, size)
                .distinct()
                .limit(Math.min(most, size))
                .toArray();
    }

    private static BuildWork work(Orchestrator orchestrator, Path file) {
        return new BuildWork(orchestrator, file.getFileName() + " (build)");
    }

    /** Checks what can be checked at once; how many partitions there will be. */
    private int count(long[] ids, VectorSource rows) {
        Vectors.requireRange("number of vectors", rows.size(), 1, Integer.MAX_VALUE - 8);
        Vectors.requireRange("dimension", rows.dimension(), 1, Vectors.MAX_DIMENSIONS);
        Vectors.requireIds(ids, rows.size());
        float[][] given = queries;
        for (int i = 0; given != null && i < given.length; i++) {
            Vectors.require("query " + i, given[i], rows.dimension(), metric);
        }
        int count =
                partitions == 0 ? Math.clamp(rows.size() / ROWS_PER_PARTITION, 1, PoolHead.MAX_PARTITIONS) : partitions;
        if (count > rows.size()) {
            throw new IllegalArgumentException(
                    "partitions must be at most the number of rows, " + rows.size() + ", got " + count);
        }
        return count;
    }

    private Pool build(Orchestrator orchestrator, BuildWork work, long[] ids, VectorSource rows, int count, Path file)
            throws IOException {
        work.phase(READ, rows.size());
        work.run(rows.size(), ROWS_PER_CHECK, (from, to) -> {
            float[] row = new float[rows.dimension()];
            for (int i = from; i < to; i++) {
                rows.read(i, row);
                Vectors.requireRow(i, row, rows.dimension(), metric);
            }
        });
        work.phase(PARTITIONED, rows.size());
        int[] sample = sample(rows.size(), MEASURED);
        // What follows rows that centroids were trained with is not what follows others: recall would seem higher than
        // it is.
        int[] heldOut = rows.size() - sample.length >= count ? sample : new int[0];
        Partitioner.Partitions found =
                new Partitioner(work, () -> work(orchestrator, file), rows, metric, count, seed, heldOut).run(boundary);
        work.phase(1, (count + 1) / 2);
        Pool[] pool = new Pool[1];
        WholeFile.replace(
                file, channel -> pool[0] = new Writing(orchestrator, work, channel, ids, rows, found, count).write());
        return pool[0];
    }

    /** One build's file, written from its first byte to its last, and the head when all else is there. */
    private final class Writing {
        private final Orchestrator orchestrator;
        private final BuildWork work;
        private final FileChannel channel;
        private final long[] ids;
        private final VectorSource rows;
        private final Partitioner.Partitions found;
        private final int count;
        private final int recordBytes;
        private final List<Directory.Place> places = new ArrayList<>();
        private final List<Directory.Gap> gaps = new ArrayList<>();
        /** Null where nothing is to be measured. */
        private final @Nullable NeighborRanks ranks;

        Writing(
                Orchestrator orchestrator,
                BuildWork work,
                FileChannel channel,
                long[] ids,
                VectorSource rows,
                Partitioner.Partitions found,
                int count) {
            this.orchestrator = orchestrator;
            this.work = work;
            this.channel = channel;
            this.ids = ids;
            this.rows = rows;
            this.found = found;
            this.count = count;
            this.recordBytes = LogRecord.bytes(rows.dimension());
            this.ranks = visited > 0 || count == 1 ? null : ranks();
        }

        private NeighborRanks ranks() {
            float[][] given = queries;
            if (given != null) {
                return new NeighborRanks(given, null);
            }
            int[] sample = sample(rows.size(), MEASURED);
            return NeighborRanks.ofRows(
                    IntStream.of(sample).mapToObj(rows::row).toArray(float[][]::new),
                    IntStream.of(sample).mapToLong(row -> ids[row]));
        }

        Pool write() throws IOException {
            try (Arena arena = Arena.ofConfined()) {
                long directoryAt = Bytes.aligned(PoolHead.pairsEnd(count), PAGE);
                long directoryBytes = Directory.room(count);
                long metaAt = directoryAt + directoryBytes;
                MemorySegment meta = meta(arena);
                put(metaAt, meta);
                long blocksAt = Bytes.aligned(metaAt + meta.byteSize(), PAGE);
                long end = blocksAt;
                long largest = 0;
                for (int pair = 0; pair < (count + 1) / 2; pair++) {
                    long next = writePair(pair, end, arena);
                    largest = Math.max(largest, next - end);
                    end = next;
                    // One more of the phase is done; ends the build where it is cancelled.
                    work.run(1, 1, (from, to) -> {});
                }
                long bytes = Bytes.aligned(end + Math.max(3 * largest, (long) (spare * (end - blocksAt))), PAGE);
                // One epoch after nothing: readers that hold none hold epoch 0.
                if (bytes / Root.PAGE > Root.MAX_PAGE) {
                    throw new IllegalArgumentException("a pool must have at most " + Root.MAX_PAGE * Root.PAGE
                            + " bytes, that of these rows would have " + bytes);
                }
                Directory directory = new Directory(1, places, gaps, List.of(), end);
                MemorySegment room = arena.allocate(directoryBytes, 8);
                directory.write(room);
                put(directoryAt, room);
                VisitedChoice.Chosen chosen = ranks == null
                        ? new VisitedChoice.Chosen(Math.clamp(visited, 1, count), Double.NaN)
                        : VisitedChoice.of(ranks.of(found.centroids(), metric), count, targetRecall);
                MemorySegment first = arena.allocate(PoolHead.BYTES, 8);
                new PoolHead(
                                count,
                                rows.dimension(),
                                metric,
                                m,
                                efConstruction,
                                chosen.visited(),
                                recordBytes,
                                bytes,
                                (int) lease.toMillis(),
                                directoryBytes,
                                metaAt,
                                found.centroids().memory().byteSize(),
                                Math.min(SAMPLE, rows.size()),
                                Checksum.of(meta))
                        .write(first);
                first.set(LONG, PoolHead.ROOT_AT, new Root(directory.epoch(), 0, directoryAt / Root.PAGE).word());
                first.set(LONG, PoolHead.ROWS_AT, rows.size());
                put(bytes - Long.BYTES, arena.allocate(Long.BYTES, 8));
                put(0, first);
                return new Pool(
                        count,
                        rows.size(),
                        places.stream().mapToLong(Directory.Place::bytes).max().orElse(0),
                        bytes,
                        chosen.visited(),
                        chosen.recall());
            }
        }

        private MemorySegment meta(Arena arena) {
            MemorySegment graph = found.centroids().memory();
            int sample = Math.min(SAMPLE, rows.size());
            MemorySegment meta = arena.allocate(graph.byteSize() + (long) sample * rows.dimension() * Float.BYTES, 64);
            meta.asSlice(0, graph.byteSize()).copyFrom(graph);
            int[] chosen = sample(rows.size(), sample);
            for (int i = 0; i < sample; i++) {
                float[] row = rows.row(chosen[i]);
                MemorySegment.copy(
                        row, 0, meta, Bytes.FLOAT, graph.byteSize() + (long) i * row.length * Float.BYTES, row.length);
            }
            return meta;
        }

        /** Both graphs of a pair are built at once; returns where the next pair begins. */
        private long writePair(int pair, long at, Arena arena) throws IOException {
            int even = 2 * pair;
            boolean hasOdd = even + 1 < count;
            CompletableFuture<@Nullable HnswGraph> other =
                    hasOdd ? inOtherThread(even + 1) : CompletableFuture.completedFuture(null);
            HnswGraph evenGraph;
            try {
                evenGraph = graph(even);
            } catch (RuntimeException | Error failed) {
                // What the other thread does ends with the orchestrator's work, and writes nothing.
                other.cancel(false);
                throw failed;
            }
            HnswGraph oddGraph = join(other);
            measure(even, evenGraph);
            measure(even + 1, oddGraph);
            long evenBytes = imageBytes(evenGraph);
            long oddBytes = hasOdd ? imageBytes(oddGraph) : 0;
            long gapBytes = gapBytes(evenBytes + oddBytes, gap, recordBytes);
            put(at, image(even, evenGraph, arena), evenGraph);
            places.add(new Directory.Place(at, evenBytes, rowsOf(evenGraph), 0));
            long oddAt = at + evenBytes + gapBytes;
            if (hasOdd) {
                put(oddAt, image(even + 1, oddGraph, arena), oddGraph);
                places.add(new Directory.Place(oddAt, oddBytes, rowsOf(oddGraph), 0));
            }
            gaps.add(new Directory.Gap(at + evenBytes, gapBytes, at, evenBytes + gapBytes + oddBytes));
            return Bytes.aligned(oddAt + oddBytes, PAGE);
        }

        private void measure(int partition, @Nullable HnswGraph graph) {
            if (ranks != null && graph != null) {
                ranks.add(new BuildWork(orchestrator, "partition " + partition + " (recall)"), partition, graph);
            }
        }

        private CompletableFuture<@Nullable HnswGraph> inOtherThread(int partition) {
            CompletableFuture<@Nullable HnswGraph> built = new CompletableFuture<>();
            Thread.ofVirtual().name("roost-build").start(() -> {
                try {
                    built.complete(graph(partition));
                } catch (Throwable failure) {
                    built.completeExceptionally(failure);
                }
            });
            return built;
        }

        private static @Nullable HnswGraph join(CompletableFuture<@Nullable HnswGraph> built) {
            try {
                return built.join();
            } catch (CompletionException failed) {
                if (failed.getCause() instanceof RuntimeException cause) {
                    throw cause;
                }
                throw failed;
            }
        }

        private @Nullable HnswGraph graph(int partition) {
            int[] members = found.members()[partition];
            if (members.length == 0) {
                return null;
            }
            long[] memberIds = Arrays.stream(members).mapToLong(row -> ids[row]).toArray();
            return HnswGraph.build(
                    new BuildWork(orchestrator, "partition " + partition + " (build)"),
                    metric,
                    m,
                    efConstruction,
                    memberIds,
                    new SomeRows(rows, members));
        }

        private void put(long at, MemorySegment header, @Nullable HnswGraph graph) throws IOException {
            put(at, header);
            if (graph != null) {
                put(at + header.byteSize(), graph.memory());
            }
        }

        private void put(long at, MemorySegment bytes) throws IOException {
            long piece = 64 << 20;
            for (long from = 0; from < bytes.byteSize(); from += piece) {
                ByteBuffer buffer = bytes.asSlice(from, Math.min(piece, bytes.byteSize() - from))
                        .asByteBuffer();
                channel.position(at + from);
                WholeFile.writeAll(channel, buffer);
            }
        }
    }

    static int rowsOf(@Nullable HnswGraph graph) {
        return graph == null ? 0 : graph.rows();
    }

    static long imageBytes(@Nullable HnswGraph graph) {
        return graph == null
                ? ImageHeader.bytes(0)
                : ImageHeader.imageBytes(graph.memory().byteSize());
    }

    /** The header of a partition's image. */
    static MemorySegment image(int partition, @Nullable HnswGraph graph, Arena arena) {
        return image(partition, 0, graph, arena);
    }

    static MemorySegment image(int partition, int generation, @Nullable HnswGraph graph, Arena arena) {
        MemorySegment bytes = graph == null ? MemorySegment.NULL : graph.memory();
        MemorySegment header = arena.allocate(ImageHeader.bytes(bytes.byteSize()), 64);
        ImageHeader.write(header, partition, rowsOf(graph), generation, bytes);
        return header;
    }

    /** Whole records, as many as the share asks for, within what a log counts. */
    static long gapBytes(long pairBytes, double share, int recordBytes) {
        return (long) recordBytes * Math.clamp((long) (pairBytes * share) / recordBytes, MIN_RECORDS, MAX_RECORDS);
    }

    /** Some rows of others. */
    private record SomeRows(VectorSource rows, int[] members) implements VectorSource {
        @Override
        public int size() {
            return members.length;
        }

        @Override
        public int dimension() {
            return rows.dimension();
        }

        @Override
        public void read(int row, float[] into) {
            rows.read(members[row], into);
        }
    }
}
