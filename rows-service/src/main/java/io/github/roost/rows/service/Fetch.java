package io.github.roost.rows.service;

import io.github.roost.rows.RowBatch;
import io.github.roost.rows.service.Batch.Answer;
import io.github.roost.rows.service.Batch.Ask;
import io.github.roost.rows.service.RowsClient.FetchedRows;
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
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The fetch of one batch: sends the requests that its {@link Batch} decides on, and tells it what comes of them. All that is not final or volatile is
 * guarded by this, and so is the batch.
 */
final class Fetch {
    private static final Logger LOG = LoggerFactory.getLogger(Fetch.class);
    /** In place of a version: the newest complete version. */
    static final long NEWEST = 0;
    /** In place of a version: of each key, the newest version that a server has. */
    static final long ANY = -1;

    /** A server that has sent nothing for so long is silent: another one is asked as well, and its view is not waited for. */
    private static final long SILENT_NANOS = 250_000_000;
    /** The deadline of a request for a view: a slow server is known, too, though no batch waits for it so long. */
    private static final long VIEW_NANOS = 10_000_000_000L;

    /** The pause before a batch's first retry; each further one is twice as long, up to the maximum. */
    private static final long RETRY_MILLIS = 5;

    private static final long MAX_RETRY_MILLIS = 100;
    /** The maximum number of keys that the error of a late batch names. */
    private static final int MAX_NAMED = 10;

    /** What the fetches of a client share. */
    record Resources(
            Channels channels,
            ExecutorService retries,
            HedgePolicy hedging,
            FetchCounters counters,
            Set<String> misnamed) {}

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

    private final Channels channels;
    private final ExecutorService retries;
    private final HedgePolicy hedging;
    private final FetchCounters counters;
    /** Servers whose views have another name; each is logged once. */
    private final Set<String> misnamed;

    private final String table;
    private final int size;
    private final List<String> columns;
    private final KnownServers knownOf;
    private final Duration timeout;
    private final long nanos;
    /** As of {@link System#nanoTime}. */
    private final long deadline;

    private final Batch<RowBatch> batch;
    private final CompletableFuture<FetchedRows> result = new CompletableFuture<>();
    /** The requests in flight, by the ids of their asks. */
    private final Map<Integer, Sent> sent = new HashMap<>();
    /** The number of requests of the first attempt; when the hedge delay ends, a later attempt may be in flight. */
    private int firstRequests;

    private volatile String lastFailure;

    /** Whether a server has answered or failed; a request {@linkplain #isCutShort cut short} says less than that. */
    private boolean hasOutcome;

    private boolean isHedgeDue;
    private boolean isRetryDue;
    private long retryMillis = RETRY_MILLIS;
    /** Done when requests in flight are to be looked at; null before the hedge delay ends. */
    private @Nullable CompletableFuture<?> watch;

    /** The servers that refuse this client. */
    private final Set<String> refusing = new HashSet<>();

    /**
     * @param version the version, {@link #NEWEST} or {@link #ANY}
     * @param timeout after which the fetch fails
     */
    Fetch(
            Resources of,
            KnownServers knownOf,
            String table,
            long version,
            long[] keys,
            List<String> columns,
            Duration timeout) {
        this.channels = of.channels();
        this.retries = of.retries();
        this.hedging = of.hedging();
        this.counters = of.counters();
        this.misnamed = of.misnamed();
        this.table = table;
        this.size = keys.length;
        this.columns = columns;
        this.knownOf = knownOf;
        this.timeout = timeout;
        // Durations of more than 292 years are possible, and mean that there is no deadline.
        this.nanos = Math.max(0, TimeUnit.NANOSECONDS.convert(timeout));
        this.deadline = System.nanoTime() + nanos;
        this.lastFailure = version == ANY
                ? "no server has their shards in any version"
                : "no servers together have all shards of " + (version == NEWEST ? "a version" : "version " + version);
        SplittableRandom random =
                new SplittableRandom(ThreadLocalRandom.current().nextLong());
        this.batch = version == ANY
                ? new AnyBatch<>(knownOf, keys, random)
                : new StrongBatch<>(knownOf, version, keys, random);
    }

    /** Sends the first requests. {@return the rows} If the caller cancels it, the requests end. */
    CompletableFuture<FetchedRows> start() {
        result.orTimeout(nanos, TimeUnit.NANOSECONDS);
        var _ = result.whenComplete((rows, failure) -> cancelRows());
        begin();
        // Not on the thread that completes the batch: it holds the batch's lock, and serves a connection, or all
        // timeouts of the JVM.
        CompletableFuture<FetchedRows> answer = result.handleAsync(
                (rows, failure) -> {
                    if (failure != null) {
                        throw new CompletionException(failure instanceof TimeoutException ? timedOut() : failure);
                    }
                    return rows;
                },
                Thread::startVirtualThread);
        return cancelling(result, answer);
    }

    /** Cancels a future when another one is cancelled, which follows from it. */
    static CompletableFuture<FetchedRows> cancelling(
            CompletableFuture<FetchedRows> before, CompletableFuture<FetchedRows> after) {
        var _ = after.whenComplete((rows, failure) -> before.cancel(false));
        return after;
    }

    private synchronized void begin() {
        if (!result.isDone() && !batch.isWaiting()) {
            List<Ask> asks = batch.begin(System.nanoTime());
            counters.sent(asks.size());
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
    private synchronized TimeoutException timedOut() {
        long[] missing = batch.missing();
        String named =
                LongStream.of(missing).limit(MAX_NAMED).mapToObj(Long::toString).collect(Collectors.joining(", "));
        String keys = missing.length == 0
                ? ""
                : " for keys " + named
                        + (missing.length > MAX_NAMED ? " and " + (missing.length - MAX_NAMED) + " more" : "");
        return new TimeoutException("the batch of table " + table + " has no answer within "
                + TimeUnit.MILLISECONDS.convert(timeout) + " ms" + keys + ": " + lastFailure);
    }

    /** Hedges late requests, and begins to watch for silent servers; runs once per batch, after the hedge delay, so most batches are done before. */
    private synchronized void hedge() {
        int late = batch.waiting();
        hedging.early(Math.max(0, firstRequests - late));
        if (late > 0 && !result.isDone()) {
            List<Ask> asks = batch.hedge(System.nanoTime(), hedging.late(late));
            counters.hedged(asks.size());
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
                counters.hedged(asks.size());
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
    private synchronized void cancelRows() {
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
            if (result.complete(rows())) {
                counters.done();
            }
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
                table, ask.version(), ask.shards(), ask.shard(), knownOf.sequence(ask.server()), columns, ask.keys());
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
            counters.answered(ask.server());
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
