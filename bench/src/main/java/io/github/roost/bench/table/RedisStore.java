package io.github.roost.bench.table;

import io.github.roost.testkit.TemporaryFolder;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;

/** Redis on a loopback address, read by {@code MGET} through Jedis over one connection. Not thread-safe. */
final class RedisStore implements ServedStore {
    /** Values sent in a pipeline before waiting for the answers. */
    private static final int SENT = 1_000;

    private final LocalRedis server;
    private final Jedis client;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment room;

    /** The store of the installed Redis; null if there is none. */
    static @Nullable RedisStore ofInstalled(TemporaryFolder folder, long[] all, int valueBytes, int maxKeys)
            throws IOException {
        Path program = LocalRedis.program().orElse(null);
        return program == null ? null : new RedisStore(program, folder.resolve("redis"), all, valueBytes, maxKeys);
    }

    private RedisStore(Path program, Path folder, long[] all, int valueBytes, int maxKeys) throws IOException {
        this.room = arena.allocate((long) valueBytes * maxKeys);
        this.server = LocalRedis.start(program, folder);
        this.client = server.connect();
        Pipeline pipeline = client.pipelined();
        for (int i = 0; i < all.length; i++) {
            pipeline.set(key(all[i]), BatchStore.value(all[i], valueBytes));
            if ((i + 1) % SENT == 0) {
                pipeline.sync();
            }
        }
        pipeline.sync();
    }

    private static byte[] key(long key) {
        return ByteBuffer.allocate(Long.BYTES).putLong(key).array();
    }

    @Override
    public String name() {
        return "Redis, MGET";
    }

    @Override
    public long fetch(long[] wanted, int begin, int count) throws IOException {
        byte[][] keys = new byte[count][];
        for (int i = 0; i < count; i++) {
            keys[i] = key(wanted[begin + i]);
        }
        List<byte[]> values = client.mget(keys);
        long sum = 0;
        long at = 0;
        for (int i = 0; i < count; i++) {
            byte[] value = values.get(i);
            if (value == null) {
                throw new IOException("Redis has not found key " + wanted[begin + i]);
            }
            MemorySegment.copy(value, 0, room, ValueLayout.JAVA_BYTE, at, value.length);
            sum += room.get(STAMP, at);
            at += value.length;
        }
        return sum;
    }

    @Override
    public void close() {
        client.close();
        server.close();
        arena.close();
    }
}
