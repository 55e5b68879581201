package io.github.roost.index.hnsw;

import io.github.roost.core.Metric;
import io.github.roost.core.TableMemory;
import io.github.roost.topology.DomainMemory;

/**
 * The options that tables of a graph share. Not thread-safe.
 *
 * @param <B> the builder itself
 */
abstract class GraphTableBuilder<B extends GraphTableBuilder<B>> {
    private String name;
    private GraphOptions options = GraphOptions.DEFAULT;
    private TableMemory.Mover mover = DomainMemory::migrate;

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
     * Sets the name under which the table shows in reports.
     *
     * @param value default {@code hnsw}, {@code live} for a live table
     * @return this builder
     */
    public B name(String value) {
        this.name = value;
        return self();
    }

    /**
     * Sets how distances are measured.
     *
     * @param value default squared L2
     * @return this builder
     */
    public B metric(Metric value) {
        options = options.withMetric(value);
        return self();
    }

    /**
     * Sets what walks read of each component.
     *
     * @param value default {@link ElementType#FLOAT32}; rows of a live table that are not yet frozen are always compared by
     *     components
     * @return this builder
     */
    public B elementType(ElementType value) {
        options = options.withElementType(value);
        return self();
    }

    /**
     * Sets how many neighbours a node keeps in each upper layer; in layer 0 twice as many.
     *
     * @param value from 2 to 256, default 16
     * @return this builder
     */
    public B m(int value) {
        options = options.withM(value);
        return self();
    }

    /**
     * Sets the width of the searches that find a new node's neighbours.
     *
     * @param value from 1 to 10,000; default 200
     * @return this builder
     */
    public B efConstruction(int value) {
        options = options.withEfConstruction(value);
        return self();
    }

    TableMemory.Mover mover() {
        return mover;
    }

    /** What moves the table's memory, for tests. */
    B mover(TableMemory.Mover value) {
        mover = value;
        return self();
    }

    @SuppressWarnings("unchecked") // a builder extends this with itself
    private B self() {
        return (B) this;
    }
}
