package io.github.roost.cli.rows;

import io.github.roost.rows.Column;
import io.github.roost.rows.RowBatch;
import io.github.roost.rows.RowWriter;
import io.github.roost.rows.Schema;
import io.github.roost.rows.service.RowSource;
import io.github.roost.rows.service.RowsClient;
import io.github.roost.rows.service.Served;

/**
 * Rows of 1 KB that contain their own key and version, so that a client can check a batch. Stateless.
 *
 * @param rows of each version; keys are from 0 to {@code rows} - 1
 */
public record DemoRows(int rows) implements RowSource {
    private static final Schema SCHEMA =
            Schema.of(Column.ofLong("version"), Column.ofLong("key"), Column.ofBytes("value"));
    private static final int VALUE_BYTES = 1_024;

    /** The rows follow from their number and the version. */
    @Override
    public String snapshot(long version) {
        return rows + " rows of version " + version;
    }

    @Override
    public Schema schema(long version) {
        return SCHEMA;
    }

    @Override
    public void load(long version, Served shards, Sink to) {
        RowWriter row = to.writer();
        byte[] value = new byte[VALUE_BYTES];
        for (long key = 0; key < rows; key++) {
            to.put(key, row.setLong(0, version).setLong(1, key).setBytes(2, value));
        }
    }

    /** Whether these are the rows of these keys, in the version that the batch says. */
    static boolean areOf(long[] keys, RowsClient.FetchedRows found) {
        for (int i = 0; i < keys.length; i++) {
            if (!found.isPresent(i)) {
                return false;
            }
            RowBatch batch = found.batch(i);
            int row = found.row(i);
            if (batch.getLong(row, 0) != found.version() || batch.getLong(row, 1) != keys[i]) {
                return false;
            }
        }
        return found.size() == keys.length;
    }
}
