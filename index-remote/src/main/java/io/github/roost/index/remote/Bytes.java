package io.github.roost.index.remote;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Layouts of the little-endian numbers in regions. Stateless. */
final class Bytes {
    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private Bytes() {}

    static long aligned(long value, long unit) {
        return (value + unit - 1) / unit * unit;
    }
}
