package io.github.roost.rows.service;

import io.github.roost.rows.service.OrderWire.Order;
import io.github.roost.rows.service.OrderWire.Report;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Executes a coordinator's orders. Looks of a known term are answered on the thread that reads them; a separate thread executes loads and unloads one after the
 * other, so that a long load blocks nothing else. Thread-safe.
 */
final class OrderService implements AutoCloseable {
    // Orders of a replaced coordinator must have no effect. Each load or unload first asks the registry for the term in
    // charge. That alone would let an order pass that is checked just before the next coordinator takes charge, and
    // takes effect just after that coordinator has looked. So a look carries the term, and the node compares terms
    // under
    // the lock under which it changes its view: the effect of an order of a lower term is either visible to the look,
    // or the order is refused.

    private static final int MAX_WAITING = 16;
    private static final long CLOSE_SECONDS = 60;

    private final Map<String, RowsNode> tables;
    private final RowsServer.Orders options;
    private final ExecutorService worker = new ThreadPoolExecutor(
            1,
            1,
            0,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(MAX_WAITING),
            Thread.ofPlatform().daemon().name("roost-table-orders").factory());

    OrderService(Map<String, RowsNode> tables, RowsServer.Orders options) {
        this.tables = tables;
        this.options = options;
    }

    @Nullable
    Tokens tokens() {
        return options.tokens();
    }

    ServerServiceDefinition definition() {
        return ServerServiceDefinition.builder(OrderWire.SERVICE)
                .addMethod(OrderWire.ORDER, ServerCalls.asyncUnaryCall(this::order))
                .build();
    }

    private void order(Order order, StreamObserver<Report> to) {
        if (order.kind() == OrderWire.Kind.LOOK) {
            if (isNews(order)) {
                // The registry is asked, which blocks; not behind a long load.
                Thread.startVirtualThread(() -> answer(order, to));
            } else {
                answer(order, to);
            }
            return;
        }
        try {
            worker.execute(() -> answer(order, to));
        } catch (RejectedExecutionException e) {
            to.onError(Status.UNAVAILABLE
                    .withDescription("orders must wait for " + MAX_WAITING + " others at most, or the server is closed")
                    .asRuntimeException());
        }
    }

    private void answer(Order order, StreamObserver<Report> to) {
        Report report;
        try {
            report = obey(order);
        } catch (StatusRuntimeException e) {
            to.onError(e);
            return;
        } catch (IllegalArgumentException e) {
            to.onError(failed(Status.INVALID_ARGUMENT, e));
            return;
        } catch (IllegalStateException e) {
            to.onError(failed(Status.FAILED_PRECONDITION, e));
            return;
        } catch (UncheckedIOException e) {
            to.onError(failed(Status.UNAVAILABLE, e));
            return;
        } catch (IOException | RuntimeException e) {
            to.onError(failed(Status.ABORTED, e));
            return;
        } catch (Throwable e) {
            // Also of a source whose classes are missing: the coordinator would wait for the answer until its deadline.
            to.onError(Status.ABORTED.withDescription(e.toString()).withCause(e).asRuntimeException());
            return;
        }
        to.onNext(report);
        to.onCompleted();
    }

    private static StatusRuntimeException failed(Status status, Throwable cause) {
        return status.withDescription(String.valueOf(cause.getMessage()))
                .withCause(cause)
                .asRuntimeException();
    }

    Report obey(Order order) throws IOException {
        RowsNode table = tables.get(order.table());
        if (table == null) {
            throw Status.NOT_FOUND
                    .withDescription("there is no table " + order.table())
                    .asRuntimeException();
        }
        long highest = hear(table, order);
        switch (order.kind()) {
            case LOOK -> {}
            case LOAD -> {
                requireInCharge(order);
                RowSource source = options.sources().get(order.table());
                if (source == null) {
                    throw new IllegalStateException("there is no source of rows of table " + order.table());
                }
                table.load(order.term(), order.version(), order.served(), source);
            }
            case UNLOAD -> {
                requireInCharge(order);
                table.unload(order.term(), order.version());
            }
        }
        return new Report(table.view(), options.seat(), highest, table.bytes());
    }

    /** Whether an order is of a higher term than the table knows. */
    private boolean isNews(Order order) {
        RowsNode table = tables.get(order.table());
        return table != null && order.term() > table.highestTerm();
    }

    /** Only the registry gives terms: a made-up one would make the table refuse all coordinators. */
    private long hear(RowsNode table, Order order) {
        if (isNews(order)) {
            long inCharge = options.registry().termInCharge(order.table());
            if (order.term() > inCharge) {
                throw RowsNode.notInCharge(inCharge, order.term());
            }
        }
        return table.hear(order.term());
    }

    private void requireInCharge(Order order) {
        long inCharge = options.registry().termInCharge(order.table());
        if (inCharge != order.term()) {
            throw RowsNode.notInCharge(inCharge, order.term());
        }
    }

    /** Refuses further orders, interrupts the order in progress, and waits up to a minute for it to end. */
    @Override
    public void close() {
        worker.shutdownNow();
        try {
            worker.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
