package io.github.roost.cli.rows;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.rows.RowWriter;
import io.github.roost.rows.TextKeys;
import io.github.roost.rows.service.RowSource;
import io.github.roost.rows.service.Served;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class DemoRowsTest {
    private static final Served ALL = new Served(1, Set.of(0));

    private final DemoRows source = new DemoRows(100);

    /** Rows as bytes, by key. */
    private final class Rows implements RowSource.Changes {
        private final Map<Long, ByteBuffer> rows;
        private int puts;

        Rows(Map<Long, ByteBuffer> rows) {
            this.rows = new HashMap<>(rows);
        }

        @Override
        public RowWriter writer() {
            return source.schema(1).writer();
        }

        @Override
        public void put(long key, RowWriter row) {
            rows.put(key, ByteBuffer.wrap(row.row().toArray(ValueLayout.JAVA_BYTE)));
            puts++;
        }

        @Override
        public void put(TextKeys keys, String text, RowWriter row) {
            throw new AssertionError("the rows have no texts as keys");
        }

        @Override
        public void remove(long key) {
            rows.remove(key);
        }

        @Override
        public void remove(TextKeys keys, String text) {
            throw new AssertionError("the rows have no texts as keys");
        }
    }

    private Rows whole(long version) {
        Rows rows = new Rows(Map.of());
        source.load(version, ALL, rows);
        return rows;
    }

    @Test
    void theChangesBetweenTwoVersionsMakeOneOfTheOther() {
        for (long from = 1; from < 30; from++) {
            for (long version = from + 1; version < 32; version++) {
                Rows changed = new Rows(whole(from).rows);
                assertThat(source.loadChanges(from, version, ALL, changed)).isTrue();
                assertThat(changed.rows).isEqualTo(whole(version).rows);
                assertThat(changed.puts).isEqualTo((int) Math.min(100, 10 * (version - from)));
            }
        }
    }
}
