package io.github.roost.index.remote;

import static io.github.roost.index.remote.format.Bytes.LONG;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.graph.Graph;
import io.github.roost.index.remote.build.NeighborRanks;
import io.github.roost.index.remote.build.Partitioner;
import io.github.roost.index.remote.build.VisitedChoice;
import io.github.roost.index.remote.format.Bytes;
import io.github.roost.index.remote.format.Directory;
import io.github.roost.index.remote.format.EpochRoot;
import io.github.roost.index.remote.format.ImageHeader;
import io.github.roost.index.remote.format.LogRecord;
import io.github.roost.index.remote.format.PoolHead;
import io.github.roost.index.remote.format.RowCount;
import io.github.roost.vector.Metric;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.file.Checksum;
import io.github.roost.vector.file.WholeFile;
import io.github.roost.vector.spi.BuildWork;
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
 * Builds a pool: the file of a region with the partitions of one table. Each partition is an HNSW graph with its rows, contiguous, so one read
 * fetches it. Two neighboring partitions share a gap; their logs of changes grow into it from both ends, so a partition and its log are one read
 * too. A graph of the partitions' centroids finds the partitions that a query visits (after Liu, Fang and Qian, "Efficient Vector Search on
 * Disaggregated Memory with d-HNSW", HotStorage 2025).
 *
 * <pre>{@code
 * PartitionedIndex.builder().partitions(160).build(orchestrator, ids, rows, Path.of("/dev/shm/products.pool"));
 * }</pre>
 *
 * <p>Not thread-safe.
 */
public final class PartitionedIndex {
    /** Sample rows stored in the pool, with which tables measure recall. */
    private static final int SAMPLE = 64;

    /** Sample rows with which the build measures how many partitions a search must visit. */
    private static final int MEASURED = 512;

    private static final int MAX_QUERIES = 1_024;
    private static final int ROWS_PER_CHECK = 256;
    private static final int ROWS_PER_PARTITION = 6_250;
    /** Progress of a build after the rows have been checked, and after they have been assigned to partitions. */
    private static final double READ = .02;

    private static final double PARTITIONED = .2;
    private static final long PAGE = 4_096;
    private static final double MAX_SPARE = 10;

    private Metric metric = Metric.SQUARED_L2;
    private int partitions;
    /** 0: measured by the build. */
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
     * Sets the metric.
     *
     * @param value {@link Metric#SQUARED_L2}, the default, or {@link Metric#COSINE}
     * @return this builder
     * @throws IllegalArgumentException for {@link Metric#INNER_PRODUCT}: its nearest rows are not in partitions near the query
     */
    public PartitionedIndex metric(Metric value) {
        if (value == Metric.INNER_PRODUCT) {
            throw new IllegalArgumentException(
                    "metric of a partitioned index must be SQUARED_L2 or COSINE, got INNER_PRODUCT");
        }
        this.metric = Objects.requireNonNull(value, "metric must not be null");
        return this;
    }

    /**
     * Sets the number of partitions.
     *
     * @param value from 1 to 10,000, at most the number of rows; default one per 6,250 rows
     * @return this builder
     */
    public PartitionedIndex partitions(int value) {
        Vectors.requireRange("partitions", value, 1, PoolHead.MAX_PARTITIONS);
        this.partitions = value;
        return this;
    }

    /**
     * Sets the default number of partitions per search. If it is not set, the build measures how many are needed for the
     * {@linkplain #targetRecall target recall}.
     *
     * @param value from 1 to 10,000; if there are fewer partitions, searches visit all
     * @return this builder
     */
    public PartitionedIndex visited(int value) {
        Vectors.requireRange("visited partitions", value, 1, PoolHead.MAX_PARTITIONS);
        this.visited = value;
        return this;
    }

    /**
     * Sets the target recall@10 of searches that visit the default number of partitions. The build measures that number on 512 of the rows, which
     * train no centroid, or on {@link #queries}. {@link #visited} sets the number itself.
     *
     * @param value over 0, at most 1; default .95
     * @return this builder
     */
    public PartitionedIndex targetRecall(double value) {
        this.targetRecall = Vectors.requireRecall(value);
        return this;
    }

    /**
     * Sets sample queries with which the build measures how many partitions the {@linkplain #targetRecall target recall} needs. They should have
     * the distribution of later queries. Default: a sample of the rows.
     *
     * @param value from 1 to 1,024, each of the rows' dimension, finite, not zero for cosine; must not change until the build has ended
     * @return this builder
     */
    public PartitionedIndex queries(float[][] value) {
        Objects.requireNonNull(value, "queries must not be null");
        Vectors.requireRange("queries", value.length, 1, MAX_QUERIES);
        this.queries = value.clone();
        return this;
    }

    /**
     * Sets the number of neighbors per row in upper layers; layer 0 has twice as many.
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
     * Sets the ef of the searches that find the neighbors of a new row.
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
     * @param value as a share of the pair's bytes, from 0 to 1, and at least 64 changes; default .1
     * @return this builder
     */
    public PartitionedIndex gap(double value) {
        this.gap = requireShare("gap", value);
        return this;
    }

    /**
     * Sets the share of rows stored in a second partition too: the rows that are nearly as near to another centroid. Searches that visit few
     * partitions find more of the true neighbors; partitions grow by this share.
     *
     * @param value as a share of the rows, from 0, the default, to 1
     * @return this builder
     */
    public PartitionedIndex boundary(double value) {
        this.boundary = requireShare("boundary", value);
        return this;
    }

    /**
     * Sets the spare space for pairs that are rebuilt because their log is full. There is always room for three pairs. Space that was never
     * written takes no memory.
     *
     * @param value as a share of the partitions' bytes, from 0 to 10; default .25. If the number of rows grows, the spare space must hold the
     *     additional rows
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
     * Sets the term of a writer's lease and of a reader's hold of an epoch: both end if they are not renewed for it. The next writer waits that
     * long after a writer has died; a writer that was stopped for longer is fenced off.
     *
     * @param value from 50 ms to an hour; default 2 seconds
     * @return this builder
     */
    public PartitionedIndex lease(Duration value) {
        Objects.requireNonNull(value, "lease must not be null");
        Vectors.requireRange(
                "lease in milliseconds", value.toMillis(), PoolHead.MIN_LEASE_MILLIS, PoolHead.MAX_LEASE_MILLIS);
        this.lease = value;
        return this;
    }

    /**
     * Sets the random seed for the training of the centroids and the choice of samples.
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
     * The properties of a pool that was built.
     *
     * @param partitions number of partitions
     * @param rows number of rows; a row in two partitions counts once
     * @param largestBytes bytes of the largest partition with its graph
     * @param bytes size of the region, including spare space
     * @param visited default number of partitions per search
     * @param recall the share of the sample's nearest rows that these partitions have; NaN if {@link #visited(int)} was set or there is one
     *     partition
     */
    public record Pool(int partitions, int rows, long largestBytes, long bytes, int visited, double recall) {}

    /**
     * Builds a pool on the orchestrator's workers, as batch work concurrent with searches, and waits for it. Ignores an interrupt until
     * it writes the file: for a build that can be ended early, use {@link #start} and {@link TableBuild#cancel()}.
     *
     * @param orchestrator runs the build
     * @param ids one external id per row, all distinct
     * @param rows at least one, of 1 to 4,096 dimensions, finite, not zero for cosine; read several times
     * @param file to write or replace; not a pool that a table of this host has open, atomically: at any time either the old file or the new one is there, complete
     * @return the properties of the pool
     * @throws IOException if the file cannot be written
     * @throws IllegalArgumentException if a row, an id or an option is invalid
     */
    public Pool build(Orchestrator orchestrator, long[] ids, VectorSource rows, Path file) throws IOException {
        Objects.requireNonNull(file, "file must not be null");
        int count = count(ids, rows);
        return build(work(orchestrator, file), ids, rows, count, file);
    }

    /**
     * Begins to build a pool and open its file, on the orchestrator's workers, as batch work concurrent with searches. This builder must not be
     * changed during the build.
     *
     * @param orchestrator runs the build and the table's searches
     * @param name name of the table in reports
     * @param ids one external id per row, all distinct; must not change during the build
     * @param rows at least one, of 1 to 4,096 dimensions; a row that is not finite, or zero for cosine, fails the build
     * @param file to write or replace; not a pool that a table of this host has open
     * @param options of the table
     * @return the build in progress; its result must be closed
     * @throws IllegalArgumentException if ids, dimension or an option is invalid
     */
    public TableBuild<MutableRemoteTable> start(
            Orchestrator orchestrator,
            String name,
            long[] ids,
            VectorSource rows,
            Path file,
            RemoteTable.Builder options) {
        Objects.requireNonNull(file, "file must not be null");
        Objects.requireNonNull(options, "options must not be null");
        int count = count(ids, rows);
        Path place = file.toAbsolutePath();
        return work(orchestrator, file).start(work -> {
            try {
                build(work, ids, rows, count, place);
                return options.open(
                        orchestrator,
                        name,
                        RemoteMemory.mapped(Objects.requireNonNull(place.getParent(), "a file is in a folder")),
                        place.getFileName().toString());
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        });
    }

    /** Row numbers of a random sample. A larger sample begins with the same rows. */
    private int[] sample(int size, int max) {
        return new Random(seed)
                .ints(0, size)
                .distinct()
                .limit(Math.min(max, size))
                .toArray();
    }

    private static BuildWork work(Orchestrator orchestrator, Path file) {
        return new BuildWork(orchestrator, file.getFileName() + " (build)");
    }

    /** Checks the options and ids; returns the number of partitions. */
    private int count(long[] ids, VectorSource rows) {
        BuildWork.requireRows(ids, rows);
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

    private Pool build(BuildWork work, long[] ids, VectorSource rows, int count, Path file) throws IOException {
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
        // Rows in the training set have more of their neighbors in few partitions than other queries have: recall
        // measured with them would be too high.
        int[] heldOut = rows.size() - sample.length >= count ? sample : new int[0];
        Partitioner.Partitions found = new Partitioner(
                        work, () -> work.part(file.getFileName() + " (build)"), rows, metric, count, seed, heldOut)
                .run(boundary);
        work.phase(1, (count + 1) / 2);
        Pool[] pool = new Pool[1];
        WholeFile.replace(file, channel -> pool[0] = new Writing(work, channel, ids, rows, found, count).write());
        return pool[0];
    }

    /** The file of one build. It is written in order; the head comes last, when all else is written. */
    private final class Writing {
        private final BuildWork work;
        private final FileChannel channel;
        private final long[] ids;
        private final VectorSource rows;
        private final Partitioner.Partitions found;
        private final int count;
        private final int recordBytes;
        private final List<Directory.Place> places = new ArrayList<>();
        private final List<Directory.Gap> gaps = new ArrayList<>();
        /** Null if nothing has to be measured. */
        private final @Nullable NeighborRanks ranks;

        Writing(
                BuildWork work,
                FileChannel channel,
                long[] ids,
                VectorSource rows,
                Partitioner.Partitions found,
                int count) {
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
                    // Reports progress; throws if the build was cancelled.
                    work.run(1, 1, (from, to) -> {});
                }
                long bytes = Bytes.aligned(end + Math.max(3 * largest, (long) (spare * (end - blocksAt))), PAGE);
                if (bytes / EpochRoot.PAGE > EpochRoot.MAX_PAGE) {
                    throw new IllegalArgumentException("a pool must have at most " + EpochRoot.MAX_PAGE * EpochRoot.PAGE
                            + " bytes; a pool of these rows would have " + bytes);
                }
                // Epochs start at 1: epoch 0 is in reader words that were never written.
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
                                Checksum.of(meta),
                                gap)
                        .write(first);
                first.set(
                        LONG,
                        PoolHead.ROOT_AT,
                        new EpochRoot(directory.epoch(), 0, directoryAt / EpochRoot.PAGE).word());
                first.set(LONG, PoolHead.ROWS_AT, new RowCount(0, rows.size()).word());
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
            long excessAt = graph.byteSize() + (long) sample * rows.dimension() * Float.BYTES;
            float[] excess = found.excess();
            MemorySegment meta = arena.allocate(excessAt + (long) excess.length * Float.BYTES, 64);
            MemorySegment.copy(excess, 0, meta, Bytes.FLOAT, excessAt, excess.length);
            meta.asSlice(0, graph.byteSize()).copyFrom(graph);
            int[] chosen = sample(rows.size(), sample);
            for (int i = 0; i < sample; i++) {
                float[] row = rows.row(chosen[i]);
                MemorySegment.copy(
                        row, 0, meta, Bytes.FLOAT, graph.byteSize() + (long) i * row.length * Float.BYTES, row.length);
            }
            return meta;
        }

        /** Builds both graphs of a pair concurrently and writes them; returns where the next pair begins. */
        private long writePair(int pair, long at, Arena arena) throws IOException {
            int even = 2 * pair;
            boolean hasOdd = even + 1 < count;
            CompletableFuture<@Nullable Graph> other =
                    hasOdd ? inOtherThread(even + 1) : CompletableFuture.completedFuture(null);
            Graph evenGraph;
            try {
                evenGraph = graph(even);
            } catch (RuntimeException | Error failed) {
                // The other thread's build runs on the orchestrator and writes nothing.
                other.cancel(false);
                throw failed;
            }
            Graph oddGraph = join(other);
            measure(even, evenGraph);
            measure(even + 1, oddGraph);
            long evenBytes = ImageHeader.imageBytes(evenGraph);
            long oddBytes = hasOdd ? ImageHeader.imageBytes(oddGraph) : 0;
            long gapBytes = Directory.Gap.bytes(evenBytes + oddBytes, gap, recordBytes);
            put(at, ImageHeader.of(even, 0, evenGraph, arena), evenGraph);
            places.add(new Directory.Place(at, evenBytes, ImageHeader.rowsOf(evenGraph), 0));
            long oddAt = at + evenBytes + gapBytes;
            if (hasOdd) {
                put(oddAt, ImageHeader.of(even + 1, 0, oddGraph, arena), oddGraph);
                places.add(new Directory.Place(oddAt, oddBytes, ImageHeader.rowsOf(oddGraph), 0));
            }
            gaps.add(new Directory.Gap(at + evenBytes, gapBytes, at, evenBytes + gapBytes + oddBytes));
            return Bytes.aligned(oddAt + oddBytes, PAGE);
        }

        private void measure(int partition, @Nullable Graph graph) {
            if (ranks != null && graph != null) {
                ranks.add(work.part("partition " + partition + " (recall)"), partition, graph);
            }
        }

        private CompletableFuture<@Nullable Graph> inOtherThread(int partition) {
            CompletableFuture<@Nullable Graph> built = new CompletableFuture<>();
            Thread.ofVirtual().name("roost-build").start(() -> {
                try {
                    built.complete(graph(partition));
                } catch (Throwable failure) {
                    built.completeExceptionally(failure);
                }
            });
            return built;
        }

        private static @Nullable Graph join(CompletableFuture<@Nullable Graph> built) {
            try {
                return built.join();
            } catch (CompletionException failed) {
                if (failed.getCause() instanceof RuntimeException cause) {
                    throw cause;
                }
                throw failed;
            }
        }

        private @Nullable Graph graph(int partition) {
            int[] members = found.members()[partition];
            if (members.length == 0) {
                return null;
            }
            long[] memberIds = Arrays.stream(members).mapToLong(row -> ids[row]).toArray();
            return Graph.build(
                    work.part("partition " + partition + " (build)"),
                    metric,
                    m,
                    efConstruction,
                    memberIds,
                    new SomeRows(rows, members));
        }

        private void put(long at, MemorySegment header, @Nullable Graph graph) throws IOException {
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

    /** A subset of the rows of a source. */
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
