package io.github.roost.rows.service;

import io.github.roost.rows.Column;
import io.github.roost.rows.RowWriter;
import io.github.roost.rows.Schema;

/** Versions of one row, with key 1, that has the version. Stateless. */
final class OneRow implements RowSource {
    @Override
    public Schema schema(long version) {
        return Schema.of(Column.ofLong("version"));
    }

    @Override
    public void load(long version, Served shards, Sink to) {
        RowWriter row = to.writer();
        to.put(1, row.setLong(0, version));
    }
}
