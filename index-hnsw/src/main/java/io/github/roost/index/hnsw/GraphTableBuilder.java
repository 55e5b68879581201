package io.github.roost.index.hnsw;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.graph.GraphOptions;
import io.github.roost.index.hnsw.search.GraphImage;
import io.github.roost.topology.system.DomainMemory;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.MemoryLimited;
import io.github.roost.vector.Metric;
import io.github.roost.vector.memory.MemoryLimit;
import io.github.roost.vector.spi.BuildWork;
import io.github.roost.vector.spi.TableMemory;
import java.util.Objects;

/**
 * The options that all graph tables share. Not thread-safe.
 *
 * @param <B> the builder itself
 */
abstract class GraphTableBuilder<B extends GraphTableBuilder<B>> {
    private String name;
    private GraphOptions options = GraphOptions.DEFAULT;
    private TableMemory.Mover mover = DomainMemory::migrate;
    private long memoryLimit = MemoryLimited.NO_MEMORY_LIMIT;

    GraphTableBuilder(String name) {
        this.name = name;
    }

    String name() {
        return name;
    }

    GraphOptions options() {
        return options;
    }

    /**
     * Sets the table's name in reports.
     *
     * @param value default {@code hnsw}, or {@code live} for a live table
     * @return this builder
     */
    public B name(String value) {
        this.name = Objects.requireNonNull(value, "name must not be null");
        return self();
    }

    /**
     * Sets the metric.
     *
     * @param value default squared L2
     * @return this builder
     */
    public B metric(Metric value) {
        options = options.withMetric(Objects.requireNonNull(value, "metric must not be null"));
        return self();
    }

    /**
     * Sets the type of the components that graph searches read.
     *
     * @param value {@link ElementType#FLOAT32} or {@link ElementType#INT8}. With INT8 a search reads SQ8 codes, a quarter of the
     *     memory, and reranks its best candidates by the vectors, which the table keeps too: 5 bytes per component in all;
     *     distances in results are exact. If the codes of a sample find less than 95 % of its neighbors, a graph reads floats all the
     *     same, and says so in the log. Rows of a live table that are in no graph yet are always compared as floats. The default
     *     of a {@link LiveTable} is FLOAT32; an {@link HnswTable} chooses, see {@link HnswTable.Builder#layout}
     * @return this builder
     * @throws IllegalArgumentException if the value is {@link ElementType#FLOAT16}
     */
    public B elementType(ElementType value) {
        options = options.withElementType(Objects.requireNonNull(value, "elementType must not be null"));
        return self();
    }

    /**
     * Sets HNSW's m, the max neighbors of a node in each upper layer. The max in layer 0 is twice as many.
     *
     * @param value from 2 to 256, default 16
     * @return this builder
     * @throws IllegalArgumentException if the value is out of range
     */
    public B m(int value) {
        options = options.withM(value);
        return self();
    }

    /**
     * Sets the width of the searches that find a new node's neighbors.
     *
     * @param value from 1 to 10,000; default 200
     * @return this builder
     * @throws IllegalArgumentException if the value is out of range
     */
    public B efConstruction(int value) {
        options = options.withEfConstruction(value);
        return self();
    }

    /**
     * Sets what builds graphs. In C, nodes are inserted one at a time per worker (Malkov and Yashunin, IEEE TPAMI 42(4), 2020, algorithm 1 with
     * the heuristic of algorithm 4), and one worker always builds the same graph. In Java, jvector builds a graph of the same kind, several times
     * slower, with the whole table on the Java heap; it is in the artifact {@code roost-index-jvector}, without which a build fails with an
     * {@link IllegalStateException}.
     *
     * @param value whether jvector builds; default false, which builds in C wherever the kernels can be loaded
     * @return this builder
     */
    public B buildInJava(boolean value) {
        options = options.withBuiltInJava(value);
        return self();
    }

    /**
     * Sets the max off-heap bytes of the table's rows; see {@link io.github.roost.vector.MemoryLimited#memoryLimit(long)}. The limit
     * applies from the build on: a build that would exceed it is refused before it begins.
     *
     * @param bytes at least 1; default no limit
     * @return this builder
     */
    public B memoryLimit(long bytes) {
        memoryLimit = MemoryLimit.require(bytes);
        return self();
    }

    long memoryLimit() {
        return memoryLimit;
    }

    void requireRoom(int rows, int dimension) {
        MemoryLimit.admit(name, memoryLimit, shapeOf(rows, dimension).bytes());
    }

    /** The shape, approximately, of a graph of this many distinct rows. */
    GraphImage.Shape shapeOf(int rows, int dimension) {
        return options.shapeOf(rows, dimension);
    }

    /** The build's steps, under the build's name in reports. */
    BuildWork work(Orchestrator orchestrator) {
        return new BuildWork(orchestrator, name + " (build)");
    }

    /** Sets the limit; closes and refuses a table that exceeds it, because its exact size is known only after the build. */
    <T extends GraphTable> T limited(T table, long max) {
        long bytes = table.bytes();
        if (bytes > max) {
            table.close();
            MemoryLimit.admit(table.name(), max, bytes);
        }
        table.memoryLimit(max);
        return table;
    }

    TableMemory.Mover mover() {
        return mover;
    }

    /** Sets the mover of the table's memory, for tests. */
    B mover(TableMemory.Mover value) {
        mover = value;
        return self();
    }

    @SuppressWarnings("unchecked") // B is the builder's own type
    private B self() {
        return (B) this;
    }
}
