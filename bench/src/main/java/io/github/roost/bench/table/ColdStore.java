package io.github.roost.bench.table;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SubmitOptions;
import io.github.roost.core.spi.Search;
import io.github.roost.io.BlockIo;
import io.github.roost.rows.RowBatch;
import io.github.roost.rows.VersionedRows;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import org.rocksdb.Statistics;
import org.rocksdb.TickerType;

/** A store of values of which only a part is in memory. Not thread-safe. */
interface ColdStore extends AutoCloseable {
    /** Counters of lookups found in memory, all lookups there, blocks read, and reads by block I/O. */
    record Touched(long hits, long all, long blocks, long reads) {}

    String name();

    /** Like {@link BatchStore#fetch}. */
    long fetch(long[] keys, int begin, int count) throws IOException;

    Touched touched();

    /** Bytes in memory for index and values. */
    long memoryBytes();

    @Override
    void close();

    /** Roost's table. Each way to read it has its own table, since shared tables would warm each other's memory. */
    abstract class OfTable implements ColdStore {
        final VersionedRows table;
        private final BlockIo io;

        OfTable(Path folder, long[] keys, int valueBytes, long valueMemory, Orchestrator orchestrator, BlockIo io)
                throws IOException {
            this.io = io;
            this.table = VersionedRows.builder(folder)
                    .valueMemory(valueMemory, orchestrator, io)
                    .open();
            BatchStore.load(table, keys, valueBytes);
        }

        static long sum(RowBatch rows) {
            long sum = 0;
            for (int i = 0; i < rows.size(); i++) {
                sum += rows.getBytes(i, 0).get(BatchStore.STAMP, 0);
            }
            return sum;
        }

        @Override
        public Touched touched() {
            VersionedRows.ColdStats stats = table.coldStats();
            return new Touched(
                    stats.hits(),
                    stats.hits() + stats.misses(),
                    stats.blocks(),
                    io.stats().reads());
        }

        @Override
        public long memoryBytes() {
            return table.memoryBytes(1);
        }

        @Override
        public void close() {
            table.close();
        }
    }

    /** Reads by searches that park. */
    final class OfSearch extends OfTable {
        private final Orchestrator orchestrator;
        private final MappingId id;
        private final Search<long[], RowBatch> search;

        OfSearch(Path folder, long[] keys, int valueBytes, long valueMemory, Orchestrator orchestrator, BlockIo io)
                throws IOException {
            super(folder, keys, valueBytes, valueMemory, orchestrator, io);
            this.orchestrator = orchestrator;
            this.id = orchestrator.register("batches").id();
            this.search = table.fetch("value");
        }

        @Override
        public String name() {
            return "Table.fetch, parks";
        }

        @Override
        public long fetch(long[] keys, int begin, int count) {
            long[] wanted = Arrays.copyOfRange(keys, begin, begin + count);
            return sum(orchestrator
                    .indexing()
                    .submitSteps(search, wanted, id, SubmitOptions.DEFAULT)
                    .join());
        }
    }

    /** Reads by a reader that blocks. */
    final class OfReader extends OfTable {
        private final VersionedRows.Reader reader;
        private final RowBatch rows = RowBatch.onHeap();

        OfReader(Path folder, long[] keys, int valueBytes, long valueMemory, Orchestrator orchestrator, BlockIo io)
                throws IOException {
            super(folder, keys, valueBytes, valueMemory, orchestrator, io);
            this.reader = table.reader();
        }

        @Override
        public String name() {
            return "Table.Reader, waits";
        }

        @Override
        public long fetch(long[] keys, int begin, int count) {
            reader.getAll(Arrays.copyOfRange(keys, begin, begin + count), rows, "value");
            return sum(rows);
        }

        @Override
        public void close() {
            reader.close();
            super.close();
        }
    }

    /** RocksDB, with its index and filters in the block cache. */
    final class OfRocks implements ColdStore {
        private final Statistics statistics = new Statistics();
        private final BatchStore.OfRocks rocks;
        private final long cacheBytes;

        OfRocks(Path folder, long[] keys, int valueBytes, int maxKeys, long cacheBytes) throws IOException {
            this.cacheBytes = cacheBytes;
            this.rocks = new BatchStore.OfRocks(
                    "RocksDB, as much memory", folder, keys, valueBytes, maxKeys, cacheBytes, statistics);
        }

        @Override
        public String name() {
            return rocks.name();
        }

        @Override
        public long fetch(long[] keys, int begin, int count) throws IOException {
            return rocks.fetch(keys, begin, count);
        }

        @Override
        public Touched touched() {
            long hits = statistics.getTickerCount(TickerType.BLOCK_CACHE_DATA_HIT);
            return new Touched(hits, hits + statistics.getTickerCount(TickerType.BLOCK_CACHE_DATA_MISS), 0, 0);
        }

        @Override
        public long memoryBytes() {
            return cacheBytes;
        }

        @Override
        public void close() {
            rocks.close();
        }
    }
}
