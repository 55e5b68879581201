package io.github.roost.server;

import io.github.roost.core.Orchestrator;
import io.helidon.http.DirectHandler;
import io.helidon.http.DirectHandler.EventType;
import io.helidon.http.HeaderNames;
import io.helidon.http.Status;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.DirectHandlers;
import io.helidon.webserver.http1.Http1Config;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;

/**
 * A service of tables over HTTP. Each connection has a virtual thread, which reads and checks a request, has the orchestrator's pinned workers
 * search, and writes the answer. It listens from its start, and is ready once it has its tables. Thread-safe.
 */
public final class RoostService implements AutoCloseable {
    private static final int MAX_CONNECTIONS = 10_000;
    /** Time for written answers to be sent before their connections are closed. */
    private static final Duration LAST_BYTES = Duration.ofSeconds(1);
    /** The idle timeout as a multiple of the body timeout: a minute, so that clients which keep connections for half a minute close them first. */
    private static final int IDLE_BODY_TIMES = 6;

    private final Orchestrator orchestrator;
    private final ServeSettings settings;
    private final InFlight inFlight = new InFlight();
    private final ServeMetrics metrics;
    private final Endpoints endpoints;
    private final ScheduledExecutorService clock = Patience.clock();
    private final WebServer server;

    /**
     * Starts to listen.
     *
     * @param orchestrator runs the searches; {@link #drain} closes it
     * @throws UncheckedIOException if the port cannot be bound
     */
    public RoostService(Orchestrator orchestrator, ServeSettings settings) {
        this.orchestrator = orchestrator;
        this.settings = settings;
        this.metrics = new ServeMetrics(orchestrator, inFlight);
        RequestBody bodies = new RequestBody(settings.maxBodyBytes(), settings.bodyTime(), clock);
        Answers answers = new Answers(settings.maxBodyBytes(), settings.bodyTime(), clock, metrics);
        this.endpoints = new Endpoints(orchestrator, metrics, inFlight, bodies, settings);
        this.server = WebServer.builder()
                .host(settings.host())
                .port(settings.port())
                .maxTcpConnections(MAX_CONNECTIONS)
                .idleConnectionTimeout(settings.bodyTime().multipliedBy(IDLE_BODY_TIMES))
                .idleConnectionPeriod(settings.bodyTime())
                // HTTP/1.1 only: with two protocols the server would have to detect which one is used before it
                // answers.
                .protocolsDiscoverServices(false)
                .addProtocol(Http1Config.builder()
                        .addReceiveListener(new HeaderTime(settings.bodyTime(), clock))
                        .build())
                .maxPayloadSize(RequestBody.maxDiscarded(settings.maxBodyBytes()))
                .shutdownGracePeriod(LAST_BYTES)
                .shutdownHook(false)
                .directHandlers(complaints(settings))
                .routing(new Routes(endpoints, inFlight, bodies, answers).routing())
                .build()
                .start();
        // The server only logs why it cannot listen.
        if (!server.isRunning()) {
            throw new UncheckedIOException(
                    new BindException("port " + settings.port() + " of " + settings.host() + " is taken or forbidden"));
        }
    }

    /** Gives errors raised by the server itself, before any route, the same form. */
    private static DirectHandlers complaints(ServeSettings settings) {
        DirectHandler handler = (request, type, status, headers, message) -> DirectHandler.TransportResponse.builder()
                .status(status)
                .headers(headers)
                .header(HeaderNames.CONTENT_TYPE, "application/json")
                .entity(Json.write(new Reply.Complaint(
                        status.code() == Status.REQUEST_ENTITY_TOO_LARGE_413.code()
                                ? RequestBody.tooLarge(settings.maxBodyBytes()).sentence()
                                : "the request is not valid HTTP: " + status.reasonPhrase())))
                .build();
        DirectHandlers.Builder builder = DirectHandlers.builder();
        for (EventType type : EventType.values()) {
            builder.addHandler(type, handler);
        }
        return builder.build();
    }

    /** Starts to serve tables; the service closes them. Called once. */
    void serve(Tables tables) {
        endpoints.serve(tables);
    }

    /** Whether it turns new requests away permanently. */
    boolean isDraining() {
        return inFlight.isShut();
    }

    /** The port it listens on. */
    public int port() {
        return server.port();
    }

    /**
     * Turns new requests away, waits for the answers to accepted ones, then stops the workers and the server.
     *
     * @return whether all accepted requests were answered in time
     */
    public boolean drain() {
        boolean answered = inFlight.drain(settings.drainTime());
        boolean drained = orchestrator.close(settings.drainTime());
        if (drained) {
            endpoints.closeTables();
        }
        server.stop();
        clock.shutdownNow();
        metrics.close();
        return answered && drained;
    }

    /** Calls {@link #drain()} and ignores its result. */
    @Override
    public void close() {
        drain();
    }
}
