package io.github.roost.examples.serve;

import io.helidon.http.Headers;
import io.helidon.http.HttpPrologue;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.http1.Http1ConnectionListener;
import java.time.Duration;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import org.jspecify.annotations.Nullable;

/**
 * Closes connections whose headers take too long, from the request line on. The server's own limits do not: its read
 * timeout begins anew with each byte, and connections that idle are closed only until their request line has come.
 * Called in the thread of each connection. Thread-safe.
 */
final class HeaderTime implements Http1ConnectionListener, AutoCloseable {
    private final Duration time;
    private final ScheduledThreadPoolExecutor clock;
    /** A connection has a thread of its own; each listener counts for itself. */
    @SuppressWarnings("ThreadLocalUsage")
    private final ThreadLocal<@Nullable Patience> patience = new ThreadLocal<>();

    /** @param time how long the headers of a request may take to arrive */
    HeaderTime(Duration time) {
        this.time = time;
        this.clock = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().daemon().name("roost-header-clock").factory());
        clock.setRemoveOnCancelPolicy(true);
    }

    @Override
    public void prologue(ConnectionContext context, HttpPrologue prologue) {
        end();
        patience.set(new Patience(clock, time));
    }

    @Override
    public void headers(ConnectionContext context, Headers headers) {
        end();
    }

    private void end() {
        Patience last = patience.get();
        if (last != null) {
            last.close();
            patience.remove();
        }
    }

    /** To be called once no more connections are read. */
    @Override
    public void close() {
        clock.shutdownNow();
    }
}
