package io.github.roost.rows.service;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.rows.RowBatch;
import io.grpc.Attributes;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServerStreamTracer;
import io.grpc.ServerTransportFilter;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import org.jspecify.annotations.Nullable;

/**
 * Answers fetches. Small answers are made on the thread that reads their request, without another queue. Others, and compressed ones, leave it, as it
 * serves many connections: they wait, without a thread of the system, until there is room for their rows, and are made by a few threads. Thread-safe.
 *
 * <p>A large answer takes its bytes of a {@link Budget} before its rows are copied, a small one of another before it is sent; both give them back when
 * gRPC has written the answer to the client's connection or given it up. So clients that read nothing hold parts of the budgets only, and at most for
 * {@link #MAX_NANOS}.
 */
final class FetchService implements AutoCloseable {
    /** Larger answers leave the thread that reads requests: copying so many bytes takes it some 50 microseconds. */
    static final int SMALL_BYTES = 256 << 10;

    private static final int SMALL_KEYS = 4_096;
    /** The memory of a request that waits, beside its keys, roughly: the call and its thread. */
    private static final int REQUEST_BYTES = 8_192;
    /** The maximum time for a request, also for one without a deadline. */
    private static final long MAX_NANOS = 60_000_000_000L;

    /** Large answers may take this part of the heap's maximum size, which is also the usual maximum of memory outside the heap. */
    private static final int PART_OF_MEMORY = 4;
    /** Small answers, and requests that wait, may take this part of what large answers may take. */
    private static final int PART_OF_LARGE = 4;
    /** The memory of an answer beside its rows and view, roughly: the call, its headers, the columns' names. */
    private static final int ANSWER_BYTES = 2_048;

    private static final Metadata.Key<String> ACCEPTED =
            Metadata.Key.of("grpc-accept-encoding", Metadata.ASCII_STRING_MARSHALLER);
    private static final Metadata.Key<String> TIMEOUT =
            Metadata.Key.of("grpc-timeout", Metadata.ASCII_STRING_MARSHALLER);
    private static final ServerStreamTracer UNLIMITED = new ServerStreamTracer() {};
    private static final Attributes.Key<Object> CONNECTION = Attributes.Key.create("connection");
    private static final Context.Key<Caller> CALLER = Context.key("caller");

    private final Map<String, RowsNode> tables;
    private final long maxReplyBytes;
    private final long smallBytes;
    private final Budget small;
    private final Budget large;
    private final Budget requests;
    private final ExecutorService makers = Executors.newFixedThreadPool(
            2 * Runtime.getRuntime().availableProcessors(),
            Thread.ofPlatform().daemon().name("roost-rows-answer-", 0).factory());
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("roost-rows-deadlines").factory());

    /** @param isCompressed whether the caller accepts gzip */
    private record Caller(Object connection, boolean isCompressed) {}

    FetchService(Map<String, RowsNode> tables, int maxReplyBytes) {
        this(tables, maxReplyBytes, Runtime.getRuntime().maxMemory() / PART_OF_MEMORY);
    }

    /** @param maxBytes the maximum size of all large answers in flight */
    FetchService(Map<String, RowsNode> tables, int maxReplyBytes, long maxBytes) {
        this.tables = tables;
        this.maxReplyBytes = Math.min(maxReplyBytes, maxBytes);
        this.smallBytes = Math.min(SMALL_BYTES, this.maxReplyBytes);
        this.large = new Budget(maxBytes);
        this.small = new Budget(maxBytes / PART_OF_LARGE);
        this.requests = new Budget(maxBytes / PART_OF_LARGE);
        timer.setRemoveOnCancelPolicy(true);
    }

    ServerServiceDefinition definition() {
        ServerServiceDefinition fetches = ServerServiceDefinition.builder(Wire.SERVICE)
                .addMethod(Wire.FETCH, ServerCalls.asyncUnaryCall(this::fetch))
                .build();
        return ServerInterceptors.intercept(fetches, new Callers());
    }

    /** Compresses answers to callers that accept gzip, and says whose call it is. */
    private static final class Callers implements ServerInterceptor {
        @Override
        public <Q, R> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
            String accepted = headers.get(ACCEPTED);
            boolean isCompressed = accepted != null && accepted.contains("gzip");
            if (isCompressed) {
                call.setCompression("gzip");
            }
            Object connection = call.getAttributes().get(CONNECTION);
            Caller caller = new Caller(Objects.requireNonNullElse(connection, call), isCompressed);
            return Contexts.interceptCall(Context.current().withValue(CALLER, caller), call, headers, next);
        }
    }

    /** Tells connections from each other; clients have no other name. */
    ServerTransportFilter connections() {
        return new ServerTransportFilter() {
            @Override
            public Attributes transportReady(Attributes transport) {
                return transport.toBuilder().set(CONNECTION, new Object()).build();
            }
        };
    }

    /** Ends fetches after {@link #MAX_NANOS}, unless they end before anyway. */
    ServerStreamTracer.Factory deadlines() {
        return new ServerStreamTracer.Factory() {
            @Override
            public ServerStreamTracer newServerStreamTracer(String method, Metadata headers) {
                String timeout = headers.get(TIMEOUT);
                // Nanoseconds and microseconds have eight digits at most.
                boolean isShort = timeout != null && (timeout.endsWith("n") || timeout.endsWith("u"));
                return isShort || !method.equals(Wire.FETCH.getFullMethodName()) ? UNLIMITED : new Limited();
            }
        };
    }

    private final class Limited extends ServerStreamTracer {
        private volatile Context.@Nullable CancellableContext limited;

        @Override
        public Context filterContext(Context context) {
            Context.CancellableContext child = context.withDeadlineAfter(MAX_NANOS, NANOSECONDS, timer);
            limited = child;
            return child;
        }

        @Override
        public void streamClosed(Status status) {
            Context.CancellableContext child = limited;
            if (child != null) {
                child.cancel(null);
            }
        }
    }

    /** The bytes of all answers in flight, for tests. */
    long inFlight() {
        return small.taken() + large.taken();
    }

    void fetch(Wire.Request request, StreamObserver<Wire.Reply> to) {
        if (request.defect() != null) {
            to.onError(Status.INVALID_ARGUMENT.withDescription(request.defect()).asRuntimeException());
            return;
        }
        RowsNode table = tables.get(request.table());
        if (table == null) {
            to.onError(Status.NOT_FOUND
                    .withDescription("there is no table " + request.table())
                    .asRuntimeException());
            return;
        }
        Call call = new Call(table, request, to);
        boolean isSmall = !call.caller.isCompressed && !table.readsFiles() && request.keys().length <= SMALL_KEYS;
        long bytes = isSmall ? call.answer(smallBytes) : 0;
        if (!isSmall || bytes > 0) {
            call.leave(bytes);
        }
    }

    /** Answers no more, and frees the threads; calls in progress are cancelled by their server. */
    @Override
    public void close() {
        makers.shutdown();
        timer.shutdownNow();
    }

    /** One call. One thread after the other makes its answer; gRPC's threads tell when it is over. */
    private final class Call {
        private final RowsNode table;
        private final Wire.Request request;
        private final StreamObserver<Wire.Reply> to;
        private final Caller caller;
        private final long deadline;

        // Guarded by this.
        /** The bytes taken for the answer, and of what. */
        private long taken;

        private Budget budget = small;

        private boolean isMaking;
        private boolean isOver;
        private @Nullable Thread waiting;

        Call(RowsNode table, Wire.Request request, StreamObserver<Wire.Reply> to) {
            this.table = table;
            this.request = request;
            this.to = to;
            Caller known = CALLER.get();
            this.caller = known == null ? new Caller(to, false) : known;
            Deadline given = Context.current().getDeadline();
            long nanos = given == null ? MAX_NANOS : Math.clamp(given.timeRemaining(NANOSECONDS), 1, MAX_NANOS);
            this.deadline = System.nanoTime() + nanos;
            if (to instanceof ServerCallStreamObserver<Wire.Reply> call) {
                call.setOnCancelHandler(this::over);
                call.setOnCloseHandler(this::over);
            }
        }

        /** The answer has been written to the connection, or is not wanted any more. */
        private synchronized void over() {
            isOver = true;
            if (waiting != null) {
                waiting.interrupt();
            }
            giveBackIfOver();
        }

        private void giveBackIfOver() {
            if (isOver && !isMaking) {
                budget.giveBack(caller.connection, taken);
                taken = 0;
            }
        }

        private synchronized boolean begin() {
            isMaking = !isOver;
            return isMaking;
        }

        private synchronized void end() {
            isMaking = false;
            giveBackIfOver();
        }

        private synchronized boolean tryTake(long bytes) {
            if (taken == 0 && budgetOf(bytes) == small && small.tryTake(caller.connection, bytes)) {
                budget = small;
                taken = bytes;
            }
            return bytes <= taken;
        }

        private Budget budgetOf(long bytes) {
            return bytes <= SMALL_BYTES ? small : large;
        }

        /** Takes the bytes of a larger answer than the one that was tried. */
        private boolean take(long bytes) throws InterruptedException {
            Budget of = budgetOf(bytes);
            synchronized (this) {
                budget.giveBack(caller.connection, taken);
                taken = 0;
            }
            boolean isTaken = of.take(caller.connection, bytes, deadline);
            synchronized (this) {
                budget = of;
                taken = isTaken ? bytes : 0;
                giveBackIfOver();
            }
            return isTaken;
        }

        /** Leaves the thread that reads requests. */
        void leave(long bytes) {
            long ofRequest = (long) request.keys().length * Long.BYTES + REQUEST_BYTES;
            if (!requests.tryTake(caller.connection, ofRequest)) {
                unavailable("too many requests wait for their answers");
                return;
            }
            Thread.startVirtualThread(() -> {
                try {
                    answerWhenThereIsRoom(bytes);
                } finally {
                    requests.giveBack(caller.connection, ofRequest);
                }
            });
        }

        private void answerWhenThereIsRoom(long first) {
            synchronized (this) {
                waiting = Thread.currentThread();
                if (isOver) {
                    return;
                }
            }
            try {
                long bytes = first > 0 ? first : answer(smallBytes);
                while (bytes > 0) {
                    if (!take(bytes)) {
                        unavailable("other answers take all memory for answers");
                        return;
                    }
                    long limit = bytes;
                    bytes = makers.submit(() -> answer(limit)).get();
                }
            } catch (InterruptedException over) {
                // Nobody waits for the answer.
            } catch (RejectedExecutionException closed) {
                unavailable("the server is closed");
            } catch (ExecutionException e) {
                fail(Status.INTERNAL.withCause(e.getCause()), "the answer could not be made");
            }
        }

        private void unavailable(@Nullable String why) {
            // Another server may be able to answer.
            fail(Status.UNAVAILABLE, why);
        }

        private void fail(Status status, @Nullable String why) {
            try {
                to.onError(status.withDescription(why).asRuntimeException());
            } catch (IllegalStateException closed) {
                // gRPC has closed the call, as it found no memory say.
            }
        }

        /**
         * Answers, if the rows take at most {@code limit} bytes and there is room for them.
         *
         * @return 0, or the bytes that the rows take if they were not sent
         */
        long answer(long limit) {
            if (!begin()) {
                return 0;
            }
            try {
                return tryAnswer(limit);
            } catch (RowBatch.TooLargeException e) {
                if (e.bytes() <= maxReplyBytes) {
                    // The size of rows in files is known step by step.
                    long rows = table.readsFiles() ? Math.max(e.bytes(), 2 * limit) : e.bytes();
                    return Math.min(maxReplyBytes, rows) + overhead();
                }
                fail(
                        Status.RESOURCE_EXHAUSTED,
                        "the rows of a batch must have " + maxReplyBytes + " bytes at most, got " + e.bytes());
            } catch (IllegalArgumentException e) {
                fail(Status.INVALID_ARGUMENT, e.getMessage());
            } catch (IllegalStateException
                    | RowBatch.ColdReadException
                    | DeadlineExceededException
                    | RejectedExecutionException e) {
                unavailable(e.getMessage());
            } catch (OutOfMemoryError e) {
                // Affects this call only: its allocations are garbage now.
                unavailable("no memory for the rows of " + request.keys().length + " keys: " + e.getMessage());
            } catch (RuntimeException e) {
                fail(Status.INTERNAL.withCause(e), e.toString());
            } finally {
                end();
            }
            return 0;
        }

        /** The memory of an answer beside its rows. */
        private long overhead() {
            long shards = 0;
            for (Served served : table.view().versions().values()) {
                shards += served.here().size();
            }
            return ANSWER_BYTES + shards * Short.BYTES;
        }

        private long tryAnswer(long limit) {
            ServerView view = table.view();
            ServerView news = view.sequence() == request.known() ? null : view;
            Long left = table.fetch(
                    request.version(),
                    request.shards(),
                    request.shard(),
                    request.keys(),
                    request.columns(),
                    limit,
                    Duration.ofNanos(Math.max(1, deadline - System.nanoTime())),
                    (served, rows) -> {
                        long bytes = rows.memory().byteSize() + overhead();
                        if (!tryTake(bytes)) {
                            return bytes;
                        }
                        // onNext writes the rows before it returns; their memory is reused afterwards.
                        to.onNext(new Wire.Reply(news, served.content(), rows));
                        return 0L;
                    });
            if (left == null) {
                long bytes = overhead();
                if (!tryTake(bytes)) {
                    return bytes;
                }
                to.onNext(Wire.Reply.without(table.view()));
            }
            if (left == null || left == 0) {
                to.onCompleted();
                return 0;
            }
            return left;
        }
    }
}
