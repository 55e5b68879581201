package io.github.roost.index.remote.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.index.remote.RemoteMemoryException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class LogRecordTest {
    private static final Directory.Key KEY = new Directory.Key(4, 2);

    private static MemorySegment written(float... vector) {
        LogRecord record = new LogRecord(
                new LogRecord.Place(KEY.partition(), KEY.generation(), 3, -1, 1),
                LogRecord.Kind.INSERT,
                5,
                6,
                vector,
                LogRecord.Moved.NOWHERE);
        MemorySegment bytes = Arena.ofAuto().allocate(LogRecord.bytes(vector.length), 64);
        record.write(bytes);
        return bytes;
    }

    @Test
    void aVectorThatIsNotFiniteIsRefusedThoughItsChecksumIsRight() throws Exception {
        assertThat(LogRecord.read("region", KEY, 3, 2, written(1, 2)).vector()).containsExactly(1, 2);
        MemorySegment damaged = written(1, Float.NaN);
        assertThatThrownBy(() -> LogRecord.read("region", KEY, 3, 2, damaged))
                .isInstanceOf(RemoteMemoryException.DamagedPartitionException.class)
                .hasMessageContaining("partition 4")
                .hasMessageContaining("slot 3 of its log holds a vector that is not finite");
    }
}
