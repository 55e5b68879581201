package io.github.roost.index.remote.format;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Layouts of the little-endian numbers in regions. Stateless. */
public final class Bytes {
    public static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    public static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    public static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private Bytes() {}

    public static long aligned(long value, long unit) {
        return (value + unit - 1) / unit * unit;
    }
}
