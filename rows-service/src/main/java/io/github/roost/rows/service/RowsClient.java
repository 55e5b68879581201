package io.github.roost.rows.service;

import io.github.roost.rows.RowBatch;
import io.github.roost.rows.TextKeys;
import io.github.roost.vector.Vectors;
import io.grpc.StatusRuntimeException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Fetches rows of tables from the servers that have them, without a proxy. All rows of a batch are of one version, or the batch fails, unless its
 * caller accepts {@linkplain #fetchAny any version}. Thread-safe.
 */
public final class RowsClient implements AutoCloseable {
    private final Map<String, KnownServers> known = new ConcurrentHashMap<>();
    private final ExecutorService retries = Executors.newSingleThreadExecutor(
            Thread.ofPlatform().daemon().name("roost-table-client").factory());
    private final Registry.Registration watch;
    private final Channels channels;
    private final FetchCounters counters = new FetchCounters();
    private final Fetch.Resources resources;

    private volatile boolean isClosed;

    /**
     * Creates a client without TLS and token, for servers on the same machine.
     *
     * @param registry lists the servers
     */
    public RowsClient(Registry registry) {
        this(registry, null, null);
    }

    /**
     * Creates a client.
     *
     * @param registry lists the servers
     * @param trusted PEM file of the trusted root certificates, which is read again within seconds after it has changed; null for no TLS
     * @param tokens those that servers require, or null for none; without TLS they are sent to loopback addresses only, and
     *     servers at other addresses are not used
     * @throws IllegalArgumentException if there are no certificates in the file
     */
    public RowsClient(Registry registry, @Nullable Path trusted, @Nullable Tokens tokens) {
        this(registry, trusted, tokens, false);
    }

    /**
     * Creates a client whose servers may compress their answers.
     *
     * @param registry lists the servers
     * @param trusted PEM file of the trusted root certificates, which is read again within seconds after it has changed; null for no TLS
     * @param tokens those that servers require, or null for none; without TLS they are sent to loopback addresses only, and
     *     servers at other addresses are not used
     * @param compressed whether servers compress their answers with gzip, which takes CPU time of both sides and pays off where the network is the
     *     bottleneck and rows compress well. Requests are never compressed, and limits apply to the size before compression
     * @throws IllegalArgumentException if there are no certificates in the file
     */
    public RowsClient(Registry registry, @Nullable Path trusted, @Nullable Tokens tokens, boolean compressed) {
        this.channels = new Channels(trusted, tokens, compressed);
        this.resources =
                new Fetch.Resources(channels, retries, new HedgePolicy(), counters, ConcurrentHashMap.newKeySet());
        this.watch = registry.watch(this::setServers);
    }

    /** Ignores an empty list, as the registry has then lost its data: the known servers stay in use. */
    private synchronized void setServers(Map<String, InetSocketAddress> now) {
        if (!now.isEmpty()) {
            channels.setServers(now);
            known.values().forEach(table -> table.setServers(now.keySet()));
        }
    }

    /** The known state of a table's servers. */
    KnownServers known(String table) {
        KnownServers present = known.get(table);
        return present == null ? begin(table) : present;
    }

    /** Takes the lock of {@link #setServers}, as a concurrent change of servers would be lost otherwise. */
    private synchronized KnownServers begin(String table) {
        return known.computeIfAbsent(table, unknown -> {
            KnownServers begun = new KnownServers();
            begun.setServers(channels.servers().keySet());
            return begun;
        });
    }

    /**
     * Fetches rows of the newest version that is complete at the servers, as far as this client knows.
     *
     * @param table the table's name
     * @param keys 0 to 100,000 keys; must not change until the future is done
     * @param deadline time from now after which the future fails with a {@link TimeoutException}, which names the last failure of a server, and up
     *     to ten of the keys that lack a row
     * @param columns names of columns; all columns if none is named
     * @return completes with the rows, all of one version; it fails with a {@link StatusRuntimeException} if a server refuses the request. It is
     *     completed on a virtual thread of its own, so what depends on it may block. If the caller cancels it, its requests end
     * @throws IllegalArgumentException if there are too many keys or columns, or a name has more than 255 bytes
     * @throws IllegalStateException if the client is closed
     */
    public CompletableFuture<FetchedRows> fetch(String table, long[] keys, Duration deadline, String... columns) {
        return fetchOf(table, Fetch.NEWEST, keys, deadline, columns);
    }

    /**
     * Fetches rows of a given version, for example the version of a previous batch.
     *
     * @param table the table's name
     * @param version the version of all rows, 1 or more
     * @param keys 0 to 100,000 keys; must not change until the future is done
     * @param deadline time from now after which the future fails with a {@link TimeoutException}, which names the last failure of a server; this also
     *     happens if the version is not complete at the servers
     * @param columns names of columns; all columns if none is named
     * @return completes with the rows; it fails with a {@link StatusRuntimeException} if a server refuses the request
     * @throws IllegalArgumentException if there are too many keys or columns, a name has more than 255 bytes, or {@code version} is less than 1
     * @throws IllegalStateException if the client is closed
     */
    public CompletableFuture<FetchedRows> fetch(
            String table, long version, long[] keys, Duration deadline, String... columns) {
        Vectors.requireRange("version", version, 1, Long.MAX_VALUE);
        return fetchOf(table, version, keys, deadline, columns);
    }

    /**
     * Fetches rows of any versions: each row is of the newest version of which a server has the key's shard, as far as this client knows. So the rows
     * of one batch may differ in version ({@link FetchedRows#version(int)}), and a batch is answered even if no version is complete at the servers.
     *
     * @param table the table's name
     * @param keys 0 to 100,000 keys; must not change until the future is done
     * @param deadline time from now after which the future fails with a {@link TimeoutException}, which names the last failure of a server, and up
     *     to ten of the keys that lack a row; this happens if no server has a shard in any version, or none that has it answers
     * @param columns names of columns; all columns if none is named
     * @return completes with the rows; it fails with a {@link StatusRuntimeException} if a server refuses the request, for example because one of the
     *     versions does not have a column
     * @throws IllegalArgumentException if there are too many keys or columns, or a name has more than 255 bytes
     * @throws IllegalStateException if the client is closed
     */
    public CompletableFuture<FetchedRows> fetchAny(String table, long[] keys, Duration deadline, String... columns) {
        return fetchOf(table, Fetch.ANY, keys, deadline, columns);
    }

    /**
     * Fetches rows by texts, of the newest version that is complete at the servers, as far as this client knows.
     *
     * @param table the table's name
     * @param by the kind of key; a row whose text differs from the requested text is absent
     * @param texts 0 to 100,000 texts; must not change until the future is done
     * @param deadline as of {@link #fetch(String, long[], Duration, String...)}; a {@link TimeoutException} names keys, not texts
     * @param columns names of columns; all columns if none is named. The column of the texts is added as the last one, unless it is among them
     * @return completes with the rows, all of one version; it fails as of {@link #fetch(String, long[], Duration, String...)}, or with an {@link
     *     IllegalArgumentException} if the column of the texts is not of type TEXT
     * @throws IllegalArgumentException if there are too many texts or columns, a text has an unpaired surrogate, or a name has more than 255 bytes
     * @throws IllegalStateException if the client is closed
     */
    public CompletableFuture<FetchedRows> fetch(
            String table, TextKeys by, List<String> texts, Duration deadline, String... columns) {
        String[] more = by.columns(List.of(columns)).toArray(String[]::new);
        CompletableFuture<FetchedRows> ofKeys = fetchOf(table, Fetch.NEWEST, by.keys(texts), deadline, more);
        return Fetch.cancelling(ofKeys, ofKeys.thenApply(rows -> {
            rows.retain(by, texts);
            return rows;
        }));
    }

    /** @param version the version, {@link Fetch#NEWEST} or {@link Fetch#ANY} */
    private CompletableFuture<FetchedRows> fetchOf(
            String table, long version, long[] keys, Duration deadline, String... columns) {
        Vectors.requireRange("keys", keys.length, 0, Wire.MAX_KEYS);
        Vectors.requireRange("columns", columns.length, 0, Wire.MAX_COLUMNS);
        Wire.requireName("table", table);
        for (String column : columns) {
            Wire.requireName("column", column);
        }
        if (isClosed) {
            throw new IllegalStateException("the client is closed");
        }
        return new Fetch(resources, known(table), table, version, keys, List.of(columns), deadline).start();
    }

    /**
     * Statistics of a client.
     *
     * @param requests the requests that batches began with, at first or after a pause
     * @param hedges the requests sent to a second server because the first was slow
     * @param batches the batches answered
     * @param answers the answers with rows, by server
     */
    public record Stats(long requests, long hedges, long batches, Map<String, Long> answers) {}

    /**
     * Statistics since the client was created.
     *
     * @return the statistics; they may lag behind concurrent requests
     */
    public Stats stats() {
        return counters.stats();
    }

    /** Closes the client; fetches in progress fail by their deadlines. */
    @Override
    public void close() {
        isClosed = true;
        watch.close();
        channels.close();
        retries.shutdownNow();
    }

    /**
     * The rows of a batch of keys, all of one version unless rows of any version were requested. The receiver owns it. Not thread-safe.
     */
    public static final class FetchedRows {
        /** 0 if rows of any version were requested. */
        private final long version;

        private final RowBatch[] batches;
        private final int[] rows;

        FetchedRows(long version, RowBatch[] batches, int[] rows) {
            this.version = version;
            this.batches = batches;
            this.rows = rows;
        }

        /**
         * The version of all rows.
         *
         * @return the version
         * @throws IllegalStateException if rows of any version were requested, even if all are of one version; {@link #version(int)} returns the version
         *     of each
         */
        public long version() {
            if (version == 0) {
                throw new IllegalStateException("a batch of any version has a version per row, none of all rows");
            }
            return version;
        }

        /**
         * The version of a key's row; if the key has no row, the version that has none.
         *
         * @param i the index of the key, from 0
         * @return the version
         */
        public long version(int i) {
            return batches[i].version();
        }

        /** Makes absent the rows whose texts differ from the requested texts, one per key. */
        void retain(TextKeys by, List<String> texts) {
            IdentityHashMap<RowBatch, String[]> byBatch = new IdentityHashMap<>();
            for (int i = 0; i < rows.length; i++) {
                byBatch.computeIfAbsent(batches[i], batch -> new String[batch.size()])[rows[i]] = texts.get(i);
            }
            byBatch.forEach((batch, textsOf) -> by.retain(List.of(textsOf), batch));
        }

        /**
         * The number of keys.
         *
         * @return 0 or more
         */
        public int size() {
            return rows.length;
        }

        /**
         * Whether a key has a row.
         *
         * @param i the index of the key, from 0
         * @return whether it has a row
         */
        public boolean isPresent(int i) {
            return batches[i].isPresent(rows[i]);
        }

        /**
         * The rows of a key's shard, which include the key's row.
         *
         * @param i the index of the key, from 0
         * @return a batch whose row {@link #row}{@code (i)} belongs to the key
         */
        public RowBatch batch(int i) {
            return batches[i];
        }

        /**
         * The index of a key's row in {@link #batch}.
         *
         * @param i the index of the key, from 0
         * @return the index of its row
         */
        public int row(int i) {
            return rows[i];
        }
    }
}
