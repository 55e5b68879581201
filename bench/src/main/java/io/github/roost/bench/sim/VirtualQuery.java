package io.github.roost.bench.sim;

/** A query on its way: complete when its last part is. */
final class VirtualQuery {
    final int table;
    final double begun;
    final int parts;
    int remaining;

    VirtualQuery(int table, double begun, int parts) {
        this.table = table;
        this.begun = begun;
        this.parts = parts;
        this.remaining = parts;
    }
}
