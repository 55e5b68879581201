package io.github.roost.bench.table;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import net.openhft.chronicle.map.ChronicleMap;

/**
 * Chronicle Map, off-heap; each value is copied into a reused array and from there into the batch. Not thread-safe; runs in the JVM of
 * {@link ChroniclePeer}.
 */
final class ChronicleStore implements BatchStore {
    private final ChronicleMap<Long, byte[]> map;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment room;
    private final byte[] used;

    ChronicleStore(long[] all, int valueBytes, int maxKeys) {
        this.map = ChronicleMap.of(Long.class, byte[].class)
                .name("values")
                .entries(all.length)
                .constantValueSizeBySample(new byte[valueBytes])
                .create();
        for (long key : all) {
            map.put(key, BatchStore.value(key, valueBytes));
        }
        this.room = arena.allocate((long) valueBytes * maxKeys);
        this.used = new byte[valueBytes];
    }

    long memoryBytes() {
        return map.offHeapMemoryUsed();
    }

    @Override
    public String name() {
        return "Chronicle Map, off-heap";
    }

    @Override
    public long fetch(long[] wanted, int begin, int count) {
        long sum = 0;
        long at = 0;
        for (int i = begin; i < begin + count; i++) {
            byte[] value = map.getUsing(wanted[i], used);
            MemorySegment.copy(value, 0, room, ValueLayout.JAVA_BYTE, at, value.length);
            sum += room.get(STAMP, at);
            at += value.length;
        }
        return sum;
    }

    @Override
    public void close() {
        map.close();
        arena.close();
    }
}
