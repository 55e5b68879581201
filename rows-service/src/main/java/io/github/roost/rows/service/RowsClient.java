package io.github.roost.rows.service;

import io.github.roost.rows.RowBatch;
import io.github.roost.rows.TextKeys;
import io.github.roost.rows.service.Batch.Answer;
import io.github.roost.rows.service.Batch.Ask;
import io.github.roost.vector.Vectors;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ClientStreamTracer;
import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fetches rows of tables from the servers that have them, without a proxy. All rows of a batch are of one version, or the batch fails, unless its
 * caller accepts {@linkplain #fetchAny any version}. Thread-safe.
 */
public final class RowsClient implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RowsClient.class);
    /** A server that has sent nothing for so long is silent: another one is asked as well, and its view is not waited for. */
    private static final long SILENT_NANOS = 250_000_000;
    /** The deadline of a request for a view: a slow server is known, too, though no batch waits for it so long. */
    private static final long VIEW_NANOS = 10_000_000_000L;

    /** The pause before a batch's first retry; each further one is twice as long, up to the maximum. */
    private static final long RETRY_MILLIS = 5;

    private static final long MAX_RETRY_MILLIS = 100;
    /** The maximum number of keys that the error of a late batch names. */
    private static final int MAX_NAMED = 10;
    /** In place of a version: the newest complete version. */
    private static final long NEWEST = 0;
    /** In place of a version: of each key, the newest version that a server has. */
    private static final long ANY = -1;

    private final Map<String, KnownServers> known = new ConcurrentHashMap<>();
    private final ExecutorService retries = Executors.newSingleThreadExecutor(
            Thread.ofPlatform().daemon().name("roost-table-client").factory());
    private final Registry.Registration watch;
    private final Channels channels;
    private final HedgePolicy hedging = new HedgePolicy();
    private final LongAdder requests = new LongAdder();
    private final LongAdder hedges = new LongAdder();
    private final LongAdder answers = new LongAdder();
    private final Map<String, LongAdder> rowsBy = new ConcurrentHashMap<>();
    /** Servers whose views have another name; each is logged once. */
    private final Set<String> misnamed = ConcurrentHashMap.newKeySet();

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
     * @param trusted PEM file of the trusted root certificates, or null for no TLS
     * @param token the token that servers require, or null for none; without TLS it is sent to loopback addresses only, and
     *     servers at other addresses are not used
     * @throws IllegalArgumentException if there are no certificates in the file
     */
    public RowsClient(Registry registry, @Nullable Path trusted, @Nullable String token) {
        this(registry, trusted, token, false);
    }

    /**
     * Creates a client whose servers may compress their answers.
     *
     * @param registry lists the servers
     * @param trusted PEM file of the trusted root certificates, or null for no TLS
     * @param token the token that servers require, or null for none; without TLS it is sent to loopback addresses only, and
     *     servers at other addresses are not used
     * @param compressed whether servers compress their answers with gzip, which takes CPU time of both sides and pays off where the network is the
     *     bottleneck and rows compress well. Requests are never compressed, and limits apply to the size before compression
     * @throws IllegalArgumentException if there are no certificates in the file
     */
    public RowsClient(Registry registry, @Nullable Path trusted, @Nullable String token, boolean compressed) {
        this.channels = new Channels(trusted, token, compressed);
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
        return fetchOf(table, NEWEST, keys, deadline, columns);
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
        return fetchOf(table, ANY, keys, deadline, columns);
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
        CompletableFuture<FetchedRows> ofKeys = fetchOf(table, NEWEST, by.keys(texts), deadline, more);
        return cancelling(ofKeys, ofKeys.thenApply(rows -> {
            rows.retain(by, texts);
            return rows;
        }));
    }

    /** Cancels a future when another one is cancelled, which follows from it. */
    private static CompletableFuture<FetchedRows> cancelling(
            CompletableFuture<FetchedRows> before, CompletableFuture<FetchedRows> after) {
        var _ = after.whenComplete((rows, failure) -> before.cancel(false));
        return after;
    }

    /** @param version the version, {@link #NEWEST} or {@link #ANY} */
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
        // Durations of more than 292 years are possible, and mean that there is no deadline.
        long nanos = Math.max(0, TimeUnit.NANOSECONDS.convert(deadline));
        Fetch fetch = new Fetch(table, version, keys, List.of(columns), System.nanoTime() + nanos);
        fetch.result.orTimeout(nanos, TimeUnit.NANOSECONDS);
        var _ = fetch.result.whenComplete((rows, failure) -> fetch.cancelRows());
        fetch.begin();
        // Not on the thread that completes the batch: it holds the batch's lock, and serves a connection or all
        // timeouts of the JVM.
        CompletableFuture<FetchedRows> answer = fetch.result.handleAsync(
                (rows, failure) -> {
                    if (failure != null) {
                        throw new CompletionException(
                                failure instanceof TimeoutException ? fetch.timedOut(deadline) : failure);
                    }
                    return rows;
                },
                Thread::startVirtualThread);
        return cancelling(fetch.result, answer);
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
        Map<String, Long> answersBy = new HashMap<>();
        rowsBy.forEach((server, count) -> answersBy.put(server, count.sum()));
        return new Stats(requests.sum(), hedges.sum(), answers.sum(), Map.copyOf(answersBy));
    }

    /** When anything of an answer last arrived, or its request was sent. */
    private static final class Arrivals extends ClientStreamTracer.Factory {
        private volatile long nanos = System.nanoTime();

        @Override
        public ClientStreamTracer newClientStreamTracer(ClientStreamTracer.StreamInfo info, Metadata headers) {
            return new ClientStreamTracer() {
                @Override
                public void inboundWireSize(long bytes) {
                    nanos = System.nanoTime();
                }
            };
        }
    }

    /** A request in flight, and the address of its server when it was sent. */
    private record Sent(
            Ask ask,
            ClientCall<?, ?> call,
            Arrivals arrivals,
            @Nullable InetSocketAddress to) {
        boolean isSilentAt(long now) {
            return now - arrivals.nanos >= SILENT_NANOS;
        }
    }

    /** The fetch of one batch. Its {@link Batch} is guarded by this. */
    private final class Fetch {
        private final String table;
        private final int size;
        private final List<String> columns;
        private final KnownServers knownOf;
        private final long deadline;
        private final Batch<RowBatch> batch;
        private final CompletableFuture<FetchedRows> result = new CompletableFuture<>();
        /** The requests in flight, by the ids of their asks. Guarded by this. */
        private final Map<Integer, Sent> sent = new HashMap<>();
        /** The number of requests of the first attempt; when the hedge delay ends, a later attempt may be in flight. Guarded by this. */
        private int firstRequests;

        private volatile String lastFailure;

        /** Whether a server has answered or failed; a request {@linkplain #isCutShort cut short} says less than that. */
        private boolean hasOutcome;

        private boolean isHedgeDue;
        private boolean isRetryDue;
        private long retryMillis = RETRY_MILLIS;
        /** Done when requests in flight are to be looked at; null before the hedge delay ends. Guarded by this. */
        private @Nullable CompletableFuture<?> watch;

        /** The servers that refuse this client. Guarded by this. */
        private final Set<String> refusing = new HashSet<>();

        /** @param version the version, {@link #NEWEST} or {@link #ANY} */
        Fetch(String table, long version, long[] keys, List<String> columns, long deadline) {
            this.table = table;
            this.size = keys.length;
            this.columns = columns;
            this.knownOf = known(table);
            this.deadline = deadline;
            this.lastFailure = version == ANY
                    ? "no server has their shards in any version"
                    : "no servers together have all shards of "
                            + (version == NEWEST ? "a version" : "version " + version);
            SplittableRandom random =
                    new SplittableRandom(ThreadLocalRandom.current().nextLong());
            this.batch = version == ANY
                    ? new AnyBatch<>(knownOf, keys, random)
                    : new StrongBatch<>(knownOf, version, keys, random);
        }

        synchronized void begin() {
            if (!result.isDone() && !batch.isWaiting()) {
                List<Ask> asks = batch.begin(System.nanoTime());
                requests.add(asks.size());
                hedging.sent(asks.size());
                proceed(asks);
                if (!isHedgeDue && !batch.isDone()) {
                    isHedgeDue = true;
                    firstRequests = batch.waiting();
                    CompletableFuture.delayedExecutor(hedging.delayNanos(), TimeUnit.NANOSECONDS, retries)
                            .execute(this::hedge);
                }
            }
        }

        /** The exception of a batch without an answer; names the keys that it lacks. */
        synchronized TimeoutException timedOut(Duration deadline) {
            long[] missing = batch.missing();
            String named = LongStream.of(missing)
                    .limit(MAX_NAMED)
                    .mapToObj(Long::toString)
                    .collect(Collectors.joining(", "));
            String keys = missing.length == 0
                    ? ""
                    : " for keys " + named
                            + (missing.length > MAX_NAMED ? " and " + (missing.length - MAX_NAMED) + " more" : "");
            return new TimeoutException("the batch of table " + table + " has no answer within "
                    + TimeUnit.MILLISECONDS.convert(deadline) + " ms" + keys + ": " + lastFailure);
        }

        /** Hedges late requests, and begins to watch for silent servers; runs once per batch, after the hedge delay, so most batches are done before. */
        private synchronized void hedge() {
            int late = batch.waiting();
            hedging.early(Math.max(0, firstRequests - late));
            if (late > 0 && !result.isDone()) {
                List<Ask> asks = batch.hedge(System.nanoTime(), hedging.late(late));
                hedges.add(asks.size());
                proceed(asks);
            }
            if (!result.isDone()) {
                watch();
            }
        }

        /** Calls {@link #askOthersThanTheSilent} when a request in flight may first be found silent. */
        private void watch() {
            long now = System.nanoTime();
            long next = sent.values().stream()
                    .mapToLong(one -> one.arrivals.nanos + SILENT_NANOS - now)
                    .filter(nanos -> nanos > 0)
                    .min()
                    .orElse(SILENT_NANOS);
            CompletableFuture<Void> then =
                    new CompletableFuture<Void>().completeOnTimeout(null, next, TimeUnit.NANOSECONDS);
            var _ = then.thenRunAsync(this::askOthersThanTheSilent, retries);
            watch = then;
        }

        /** A silent server may only be slow, with a large answer say: it may still answer, but does not hold the batch up. */
        private synchronized void askOthersThanTheSilent() {
            long now = System.nanoTime();
            for (Sent one : List.copyOf(sent.values())) {
                if (result.isDone() || !one.isSilentAt(now)) {
                    continue;
                }
                if (hasMoved(one)) {
                    sent.remove(one.ask.id());
                    one.call.cancel("its server has another address now", null);
                    proceed(batch.givenUp(one.ask, now));
                } else if (one.ask.shard() != Batch.NO_SHARD && batch.isWaitingFor(one.ask)) {
                    hasOutcome = true;
                    lastFailure = silent(one.ask);
                    List<Ask> asks = batch.silent(one.ask, now);
                    hedges.add(asks.size());
                    proceed(asks);
                }
            }
            if (!result.isDone()) {
                watch();
            }
        }

        /** Whether the server was started elsewhere meanwhile, so that it is asked there. */
        private boolean hasMoved(Sent one) {
            InetSocketAddress now = channels.servers().get(one.ask.server());
            return now != null && !now.equals(one.to);
        }

        private static String silent(Ask ask) {
            return "server " + ask.server() + " has sent nothing for " + TimeUnit.NANOSECONDS.toMillis(SILENT_NANOS)
                    + " ms";
        }

        /** Its server is avoided, also after the batch. */
        private synchronized void viewIsLate(Ask ask) {
            if (sent.containsKey(ask.id())) {
                if (batch.isWaitingFor(ask)) {
                    hasOutcome = true;
                    lastFailure = silent(ask);
                }
                proceed(batch.silent(ask, System.nanoTime()));
            }
        }

        /**
         * Ends the requests for rows, when the batch is done. Those for views go on: a batch is usually done before a server that has joined has
         * answered, and without its view no batch would ever ask it for rows.
         */
        synchronized void cancelRows() {
            if (watch != null) {
                watch.cancel(false);
            }
            for (Sent one : List.copyOf(sent.values())) {
                if (one.ask.shard() != Batch.NO_SHARD) {
                    sent.remove(one.ask.id());
                    one.call.cancel("the batch is done", null);
                }
            }
        }

        private void proceed(List<Ask> asks) {
            if (result.isDone()) {
                return;
            }
            for (Sent one : List.copyOf(sent.values())) {
                if (one.ask.shard() != Batch.NO_SHARD && !batch.isWaitingFor(one.ask)) {
                    sent.remove(one.ask.id());
                    one.call.cancel("nobody waits for it any more", null);
                }
            }
            // The caller may handle a call of a server; requests do not end with that call.
            Context.ROOT.run(() -> asks.forEach(this::send));
            if (batch.isDone()) {
                answers.add(result.complete(rows()) ? 1 : 0);
            } else if (!batch.isWaiting() && !result.isDone()) {
                retryLater();
            }
        }

        /** Once at a time: a request that fails while it is sent comes here for each of those that it is sent by. */
        private void retryLater() {
            if (!isRetryDue) {
                isRetryDue = true;
                CompletableFuture.delayedExecutor(retryMillis, TimeUnit.MILLISECONDS, retries)
                        .execute(this::retry);
                retryMillis = Math.min(MAX_RETRY_MILLIS, 2 * retryMillis);
            }
        }

        private synchronized void retry() {
            isRetryDue = false;
            begin();
        }

        private FetchedRows rows() {
            RowBatch[] batches = new RowBatch[size];
            int[] rows = new int[size];
            for (Answer<RowBatch> answer : batch.answers()) {
                for (int i = 0; i < answer.positions().length; i++) {
                    batches[answer.positions()[i]] = answer.values();
                    rows[answer.positions()[i]] = i;
                }
            }
            return new FetchedRows(batch instanceof StrongBatch<RowBatch> strong ? strong.version() : 0, batches, rows);
        }

        private void send(Ask ask) {
            InetSocketAddress to = channels.servers().get(ask.server());
            ManagedChannel channel;
            try {
                channel = channels.to(ask.server());
            } catch (StatusRuntimeException cannotBeAsked) {
                retries.execute(() -> failed(ask, cannotBeAsked.getStatus()));
                return;
            }
            long left = deadline - System.nanoTime();
            boolean isView = ask.shard() == Batch.NO_SHARD;
            Arrivals arrivals = new Arrivals();
            CallOptions options = CallOptions.DEFAULT
                    .withDeadlineAfter(isView ? VIEW_NANOS : Math.max(left, 1), TimeUnit.NANOSECONDS)
                    .withStreamTracerFactory(arrivals);
            ClientCall<Wire.Request, Wire.Reply> call = channel.newCall(Wire.FETCH, options);
            sent.put(ask.id(), new Sent(ask, call, arrivals, to));
            if (isView) {
                CompletableFuture.delayedExecutor(SILENT_NANOS, TimeUnit.NANOSECONDS, retries)
                        .execute(() -> viewIsLate(ask));
            }
            Wire.Request request = new Wire.Request(
                    table,
                    ask.version(),
                    ask.shards(),
                    ask.shard(),
                    knownOf.sequence(ask.server()),
                    columns,
                    ask.keys());
            ClientCalls.asyncUnaryCall(call, request, new StreamObserver<>() {
                @Override
                public void onNext(Wire.Reply reply) {
                    answered(ask, reply);
                }

                @Override
                public void onError(Throwable failure) {
                    failed(ask, Status.fromThrowable(failure));
                }

                @Override
                public void onCompleted() {
                    // The answer was handled in onNext.
                }
            });
        }

        private synchronized void answered(Ask ask, Wire.Reply reply) {
            hasOutcome = true;
            sent.remove(ask.id());
            if (reply.view() != null) {
                learn(ask.server(), reply.view());
            }
            RowBatch rows = reply.rows();
            if (rows == null) {
                proceed(batch.notServed(ask, System.nanoTime()));
            } else if (reply.content() != ask.of().content()) {
                // Its version was loaded anew, and the view above says so.
                proceed(batch.notServed(ask, System.nanoTime()));
            } else if (rows.version() == ask.version() && rows.size() == ask.keys().length) {
                rowsBy.computeIfAbsent(ask.server(), first -> new LongAdder()).increment();
                proceed(batch.answered(ask, rows.version(), rows, System.nanoTime()));
            } else {
                proceed(batch.failed(ask, System.nanoTime()));
            }
        }

        /** Learns a server's view, unless its name is not the registered name: it would be taken for the view of another server. */
        private void learn(String server, ServerView view) {
            if (view.server().equals(server)) {
                knownOf.learn(view);
                return;
            }
            lastFailure = "server " + server + " calls itself " + view.server()
                    + ": a node's name must be that by which its server is registered";
            if (misnamed.add(server)) {
                LOG.warn("{}; it is not used", lastFailure);
            }
        }

        private synchronized void failed(Ask ask, Status status) {
            boolean isCancelled = status.getCode() == Status.Code.CANCELLED && !sent.containsKey(ask.id());
            sent.remove(ask.id());
            if (isCancelled || result.isDone()) {
                return;
            }
            if (isFinal(ask, status)) {
                result.completeExceptionally(status.asRuntimeException());
                return;
            }
            boolean isCutShort = isCutShort(status);
            if (!isCutShort || !hasOutcome) {
                Throwable cause = status.getCause();
                hasOutcome = true;
                lastFailure = "server " + ask.server() + ": " + status.getCode() + ", " + status.getDescription()
                        + (cause == null ? "" : ", " + cause.getMessage());
            }
            if (!isCutShort) {
                proceed(batch.failed(ask, System.nanoTime()));
            }
        }

        /**
         * Whether the batch's deadline ended a request, at the client or at the server. That says nothing about the server, so an earlier answer or
         * failure stays the one to report.
         */
        private boolean isCutShort(Status status) {
            return System.nanoTime() - deadline >= 0
                    && (status.getCode() == Status.Code.DEADLINE_EXCEEDED || status.getCode() == Status.Code.CANCELLED);
        }

        /**
         * Whether no other server would answer: the request is invalid, or every server refuses this client. One server that refuses it, since it
         * was started with another token say, is used as little as a server that has failed.
         */
        private boolean isFinal(Ask ask, Status status) {
            return switch (status.getCode()) {
                case INVALID_ARGUMENT, RESOURCE_EXHAUSTED -> batch.isWaitingFor(ask);
                case UNAUTHENTICATED, PERMISSION_DENIED, UNIMPLEMENTED -> {
                    refusing.add(ask.server());
                    yield refusing.containsAll(knownOf.servers());
                }
                default -> false;
            };
        }
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
