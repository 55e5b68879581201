package io.github.roost.cli.rows;

import io.github.roost.rows.Column;
import io.github.roost.rows.RowBatch;
import io.github.roost.rows.RowWriter;
import io.github.roost.rows.Schema;
import io.github.roost.rows.service.RowSource;
import io.github.roost.rows.service.RowsClient;
import io.github.roost.rows.service.Served;

/**
 * Rows of 1 KB that contain their own key and the version of their last change, so that a client can check a batch. A version changes a tenth of
 * the rows. Stateless.
 *
 * @param rows of each version; keys are from 0 to {@code rows} - 1
 */
public record DemoRows(int rows) implements RowSource {
    private static final Schema SCHEMA =
            Schema.of(Column.ofLong("version"), Column.ofLong("key"), Column.ofBytes("value"));
    private static final int VALUE_BYTES = 1_024;
    /** A version changes one row of so many. */
    private static final int ROWS_PER_CHANGE = 10;

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
            to.put(key, row.setLong(0, lastChange(key, version)).setLong(1, key).setBytes(2, value));
        }
    }

    @Override
    public boolean loadChanges(long from, long version, Served shards, Changes to) {
        RowWriter row = to.writer();
        byte[] value = new byte[VALUE_BYTES];
        for (long key = 0; key < rows; key++) {
            long changed = lastChange(key, version);
            if (changed > from) {
                to.put(key, row.setLong(0, changed).setLong(1, key).setBytes(2, value));
            }
        }
        return true;
    }

    /** The last version, up to one, that changed a row; the first has all rows. */
    private static long lastChange(long key, long version) {
        return Math.max(1, version - Math.floorMod(version - key, ROWS_PER_CHANGE));
    }

    /** Whether these are the rows of these keys, in the version that the batch says. */
    static boolean areOf(long[] keys, RowsClient.FetchedRows found) {
        for (int i = 0; i < keys.length; i++) {
            if (!found.isPresent(i)) {
                return false;
            }
            RowBatch batch = found.batch(i);
            int row = found.row(i);
            if (batch.getLong(row, 0) != lastChange(keys[i], found.version()) || batch.getLong(row, 1) != keys[i]) {
                return false;
            }
        }
        return found.size() == keys.length;
    }
}
