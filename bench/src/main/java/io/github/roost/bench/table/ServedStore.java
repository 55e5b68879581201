package io.github.roost.bench.table;

import io.github.roost.bench.peer.BytesOverGrpc;
import io.github.roost.rows.Column;
import io.github.roost.rows.RowWriter;
import io.github.roost.rows.Schema;
import io.github.roost.rows.service.Registry;
import io.github.roost.rows.service.RollingUpdate;
import io.github.roost.rows.service.RowSource;
import io.github.roost.rows.service.RowsClient;
import io.github.roost.rows.service.RowsNode;
import io.github.roost.rows.service.RowsServer;
import io.github.roost.rows.service.Served;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/** A store behind a server on a loopback address, with one client that has one connection. Not thread-safe. */
interface ServedStore extends BatchStore {
    /** Roost's table service. */
    final class OfTableService implements ServedStore {
        private static final String TABLE = "items";
        private static final Duration DEADLINE = Duration.ofSeconds(30);

        private final Registry registry = Registry.inMemory();
        private final RowsNode node;
        private final RowsServer server;
        private final RowsClient client;

        OfTableService(Path folder, long[] all, int valueBytes, int shards) throws IOException {
            this.node = RowsNode.open("server", folder);
            node.load(registry.takeCharge(TABLE), 1, RollingUpdate.shardsAt(1, 0, shards), new RowSource() {
                @Override
                public Schema schema(long version) {
                    return Schema.of(Column.ofBytes("value"));
                }

                @Override
                public void load(long version, Served wanted, Sink to) {
                    RowWriter row = to.writer();
                    for (long key : all) {
                        to.put(key, row.setBytes(0, BatchStore.value(key, valueBytes)));
                    }
                }
            });
            this.server = RowsServer.start(Map.of(TABLE, node), RowsServer.Options.onLoopback(0));
            registry.register("server", server.address());
            this.client = new RowsClient(registry);
        }

        /** The same servers, asked by a client that has their answers compressed; to be closed first. */
        ServedStore compressed() {
            return new Compressed(new RowsClient(registry, null, null, true));
        }

        private record Compressed(RowsClient client) implements ServedStore {
            @Override
            public String name() {
                return "table service, gzip";
            }

            @Override
            public long fetch(long[] keys, int begin, int count) {
                return OfTableService.fetch(client, keys, begin, count);
            }

            @Override
            public void close() {
                client.close();
            }
        }

        @Override
        public String name() {
            return "table service";
        }

        @Override
        public long fetch(long[] keys, int begin, int count) {
            return fetch(client, keys, begin, count);
        }

        private static long fetch(RowsClient client, long[] keys, int begin, int count) {
            long[] wanted = new long[count];
            System.arraycopy(keys, begin, wanted, 0, count);
            RowsClient.FetchedRows rows =
                    client.fetch(TABLE, wanted, DEADLINE, "value").join();
            long sum = 0;
            for (int i = 0; i < count; i++) {
                sum += rows.batch(i).getBytes(rows.row(i), 0).get(STAMP, 0);
            }
            return sum;
        }

        @Override
        public void close() {
            client.close();
            server.close();
            node.close();
            registry.close();
        }
    }

    /** RocksDB behind a minimal gRPC service that only calls {@code multiGetByteBuffers}: keys in, values out. */
    final class OfRocksService implements ServedStore {
        private final OfRocks rocks;
        private final int valueBytes;
        private final BytesOverGrpc service;

        OfRocksService(OfRocks rocks, int valueBytes) throws IOException {
            this.rocks = rocks;
            this.valueBytes = valueBytes;
            this.service = new BytesOverGrpc("rocks.Values", this::get);
        }

        private byte[] get(byte[] request) throws IOException {
            long[] keys = new long[request.length / Long.BYTES];
            ByteBuffer.wrap(request).asLongBuffer().get(keys);
            byte[] values = new byte[keys.length * valueBytes];
            rocks.fetch(keys, 0, keys.length);
            rocks.copyTo(values, keys.length);
            return values;
        }

        @Override
        public String name() {
            return rocks.name();
        }

        @Override
        public long fetch(long[] keys, int begin, int count) {
            ByteBuffer request = ByteBuffer.allocate(count * Long.BYTES);
            request.asLongBuffer().put(keys, begin, count);
            byte[] values = service.ask(request.array());
            ByteBuffer answer = ByteBuffer.wrap(values).order(ByteOrder.LITTLE_ENDIAN);
            long sum = 0;
            for (int i = 0; i < count; i++) {
                sum += answer.getLong(i * valueBytes);
            }
            return sum;
        }

        @Override
        public void close() {
            service.close();
            rocks.close();
        }
    }
}
