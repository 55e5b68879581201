package io.github.roost.server;

import io.helidon.http.Headers;
import io.helidon.http.HttpPrologue;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.http1.Http1ConnectionListener;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * Closes connections whose headers take too long, counted from the request line. The server's own limits do not cover this: its read timeout
 * restarts with each byte, and its idle timeout ends with the request line. Called in the thread of each connection. Thread-safe.
 */
final class HeaderTime implements Http1ConnectionListener {
    private final Duration time;
    private final ScheduledExecutorService clock;
    /** Each connection has its own thread; each listener keeps its own time. */
    @SuppressWarnings("ThreadLocalUsage")
    private final ThreadLocal<@Nullable Patience> patience = new ThreadLocal<>();

    /** @param time time limit for the headers of a request */
    HeaderTime(Duration time, ScheduledExecutorService clock) {
        this.time = time;
        this.clock = clock;
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
}
