package io.github.roost.bench.table;

import io.github.roost.rows.Column;
import io.github.roost.rows.RowBatch;
import io.github.roost.rows.RowWriter;
import io.github.roost.rows.Schema;
import io.github.roost.rows.VersionBuilder;
import io.github.roost.rows.VersionedRows;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.ByteBufferGetStatus;
import org.rocksdb.CompressionType;
import org.rocksdb.DataBlockIndexType;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;
import org.rocksdb.WriteOptions;

/** A store of values by long keys, fetched in batches into one block of off-heap memory. Not thread-safe. */
interface BatchStore extends AutoCloseable {
    /** Values are identified by their first 8 bytes: the value of key {@code k} begins with {@code k}. */
    ValueLayout.OfLong STAMP = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    String name();

    /** Fetches the values of some keys of the store; returns the sum of their stamps. */
    long fetch(long[] keys, int begin, int count) throws IOException;

    @Override
    void close();

    /** The value of a key. */
    static byte[] value(long key, int bytes) {
        ByteBuffer value = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        for (long i = key; value.remaining() >= Long.BYTES; i += 0x9E3779B97F4A7C15L) {
            value.putLong(i);
        }
        return value.array();
    }

    /** Publishes a version with the values of some keys. */
    static void load(VersionedRows table, long[] keys, int valueBytes) throws IOException {
        try (VersionBuilder loading = table.begin(1, Schema.of(Column.ofBytes("value")), keys.length)) {
            RowWriter row = loading.writer();
            for (long key : keys) {
                loading.put(key, row.setBytes(0, value(key, valueBytes)));
            }
            loading.seal();
        }
        table.publish(1);
    }

    /** Roost's table. */
    final class OfTable implements BatchStore {
        private static final List<String> COLUMNS = List.of("value");

        private final VersionedRows table;
        private final VersionedRows.Reader reader;
        private final Arena arena = Arena.ofShared();
        private final MemorySegment keys;
        private final RowBatch rows;
        private final int max;

        OfTable(Path folder, long[] all, int valueBytes, int maxKeys) throws IOException {
            this.max = maxKeys;
            this.keys = arena.allocate(ValueLayout.JAVA_LONG, maxKeys);
            this.rows = RowBatch.in(arena.allocate((valueBytes + 16L) * maxKeys));
            this.table = VersionedRows.open(folder);
            load(table, all, valueBytes);
            this.reader = table.reader();
        }

        long memoryBytes() {
            VersionedRows.Stats stats = table.stats();
            return stats.indexBytes() + stats.valueBytes();
        }

        @Override
        public String name() {
            return "Table.Reader.getAll";
        }

        @Override
        public long fetch(long[] wanted, int begin, int count) {
            MemorySegment.copy(wanted, begin, keys, ValueLayout.JAVA_LONG, 0, Math.min(count, max));
            reader.getAll(0, keys, count, rows, COLUMNS);
            long sum = 0;
            for (int i = 0; i < count; i++) {
                sum += rows.getBytes(i, 0).get(STAMP, 0);
            }
            return sum;
        }

        @Override
        public void close() {
            reader.close();
            table.close();
            arena.close();
        }
    }

    /** A map of arrays on the heap. */
    final class OfHeap implements BatchStore {
        private final Long2ObjectOpenHashMap<byte[]> map = new Long2ObjectOpenHashMap<>();
        private final Arena arena = Arena.ofShared();
        private final MemorySegment room;

        OfHeap(long[] all, int valueBytes, int maxKeys) {
            for (long key : all) {
                map.put(key, value(key, valueBytes));
            }
            this.room = arena.allocate((long) valueBytes * maxKeys);
        }

        @Override
        public String name() {
            return "fastutil, arrays on the heap";
        }

        @Override
        public long fetch(long[] wanted, int begin, int count) {
            long sum = 0;
            long at = 0;
            for (int i = begin; i < begin + count; i++) {
                byte[] value = map.get(wanted[i]);
                MemorySegment.copy(value, 0, room, ValueLayout.JAVA_BYTE, at, value.length);
                sum += room.get(STAMP, at);
                at += value.length;
            }
            return sum;
        }

        @Override
        public void close() {
            arena.close();
        }
    }

    /** RocksDB with a block cache of a given size, read by {@code multiGetByteBuffers}. */
    final class OfRocks implements BatchStore {
        private static final int BLOOM_BITS = 10;

        static {
            RocksDB.loadLibrary();
        }

        private final String name;
        private final LRUCache cache;
        private final Options options;
        private final RocksDB db;
        private final ReadOptions reading = new ReadOptions();
        private final List<ByteBuffer> keys = new ArrayList<>();
        private final List<ByteBuffer> values = new ArrayList<>();

        /** Creates and fills the database. */
        OfRocks(String name, Path folder, long[] all, int valueBytes, int maxKeys, long cacheBytes) throws IOException {
            this.name = name;
            this.cache = new LRUCache(cacheBytes);
            this.options = new Options()
                    .setCreateIfMissing(true)
                    .setCompressionType(CompressionType.NO_COMPRESSION)
                    // With direct reads the block cache is all its cache; the page cache adds nothing.
                    .setUseDirectReads(true)
                    .setTableFormatConfig(new BlockBasedTableConfig()
                            .setBlockCache(cache)
                            .setFilterPolicy(new BloomFilter(BLOOM_BITS))
                            .setDataBlockIndexType(DataBlockIndexType.kDataBlockBinaryAndHash));
            try (WriteOptions writing = new WriteOptions().setDisableWAL(true)) {
                this.db = RocksDB.open(options, folder.toString());
                for (long key : all) {
                    db.put(writing, bigEndian(key), value(key, valueBytes));
                }
                db.compactRange();
            } catch (RocksDBException e) {
                throw new IOException(e);
            }
            for (int i = 0; i < maxKeys; i++) {
                keys.add(ByteBuffer.allocateDirect(Long.BYTES));
                values.add(ByteBuffer.allocateDirect(valueBytes).order(ByteOrder.LITTLE_ENDIAN));
            }
        }

        private static byte[] bigEndian(long key) {
            return ByteBuffer.allocate(Long.BYTES).putLong(key).array();
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public long fetch(long[] wanted, int begin, int count) throws IOException {
            for (int i = 0; i < count; i++) {
                keys.get(i).clear().putLong(wanted[begin + i]).flip();
                values.get(i).clear();
            }
            try {
                long sum = 0;
                for (ByteBufferGetStatus found :
                        db.multiGetByteBuffers(reading, keys.subList(0, count), values.subList(0, count))) {
                    if (found.status.getCode() != Status.Code.Ok) {
                        throw new IOException("RocksDB did not find a key: " + found.status.getCodeString());
                    }
                    sum += found.value.order(ByteOrder.LITTLE_ENDIAN).getLong(0);
                }
                return sum;
            } catch (RocksDBException e) {
                throw new IOException(e);
            }
        }

        /** Copies the values fetched last, one after the other. */
        void copyTo(byte[] target, int count) {
            int at = 0;
            for (ByteBuffer value : values.subList(0, count)) {
                int length = value.limit();
                value.get(0, target, at, length);
                at += length;
            }
        }

        @Override
        public void close() {
            reading.close();
            db.close();
            options.close();
            cache.close();
        }
    }
}
