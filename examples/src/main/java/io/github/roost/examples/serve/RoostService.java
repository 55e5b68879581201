package io.github.roost.examples.serve;

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

/**
 * Tables over HTTP. Each connection has a virtual thread, which reads and checks a request, has the orchestrator's pinned
 * workers search, and writes the answer. It listens from its start on, and is ready once it has been given its tables.
 * Thread-safe.
 */
public final class RoostService implements AutoCloseable {
    private static final int MAX_CONNECTIONS = 10_000;
    /** How long answers that are written may take to leave before their connections are closed. */
    private static final Duration LAST_BYTES = Duration.ofSeconds(1);
    /**
     * How many times as long as a body a connection may take to its next request line: a minute, so that clients which keep
     * connections for half of one are not the second to close them.
     */
    private static final int IDLE_BODY_TIMES = 6;

    private final Orchestrator orchestrator;
    private final ServeSettings settings;
    private final InFlight inFlight = new InFlight();
    private final ServeMetrics metrics;
    private final Endpoints endpoints;
    private final HeaderTime headerTime;
    private final WebServer server;

    /**
     * Starts to listen.
     *
     * @param orchestrator runs the searches; {@link #drain} closes it
     * @throws UncheckedIOException if the port cannot be had
     */
    public RoostService(Orchestrator orchestrator, ServeSettings settings) {
        this.orchestrator = orchestrator;
        this.settings = settings;
        this.metrics = new ServeMetrics(orchestrator, inFlight);
        this.endpoints = new Endpoints(orchestrator, metrics, inFlight, settings);
        this.headerTime = new HeaderTime(settings.bodyTime());
        this.server = WebServer.builder()
                .host(settings.host())
                .port(settings.port())
                .maxTcpConnections(MAX_CONNECTIONS)
                .idleConnectionTimeout(settings.bodyTime().multipliedBy(IDLE_BODY_TIMES))
                .idleConnectionPeriod(settings.bodyTime())
                // HTTP/1.1 alone, once: of two the server would have to find out which is meant before it answers at
                // all.
                .protocolsDiscoverServices(false)
                .addProtocol(
                        Http1Config.builder().addReceiveListener(headerTime).build())
                .maxPayloadSize(RequestBody.mostDiscarded(settings.mostBodyBytes()))
                .shutdownGracePeriod(LAST_BYTES)
                .shutdownHook(false)
                .directHandlers(complaints(settings))
                .routing(new Routes(endpoints, inFlight, metrics).routing())
                .build()
                .start();
        // It logs why it cannot listen, and throws nothing.
        if (!server.isRunning()) {
            throw new UncheckedIOException(
                    new BindException("port " + settings.port() + " of " + settings.host() + " is taken or forbidden"));
        }
    }

    /** What the server itself refuses, before any route sees it, is told in the same form. */
    private static DirectHandlers complaints(ServeSettings settings) {
        DirectHandler handler = (request, type, status, headers, message) -> DirectHandler.TransportResponse.builder()
                .status(status)
                .headers(headers)
                .header(HeaderNames.CONTENT_TYPE, "application/json")
                .entity(Json.write(new Reply.Complaint(
                        status.code() == Status.REQUEST_ENTITY_TOO_LARGE_413.code()
                                ? RequestBody.tooLarge(settings.mostBodyBytes()).sentence()
                                : "the request is not valid HTTP: " + status.reasonPhrase())))
                .build();
        DirectHandlers.Builder builder = DirectHandlers.builder();
        for (EventType type : EventType.values()) {
            builder.addHandler(type, handler);
        }
        return builder.build();
    }

    /** Serves these tables from now on; they are the service's to close. To be called once. */
    void serve(Tables tables) {
        endpoints.serve(tables);
    }

    /** Whether it turns new requests away for good. */
    boolean isDraining() {
        return inFlight.isShut();
    }

    /** The port it listens to. */
    public int port() {
        return server.port();
    }

    /**
     * Turns new requests away, waits until those accepted are answered, then ends the workers and the listening.
     *
     * @return whether all that was accepted was answered in time
     */
    public boolean drain() {
        boolean answered = inFlight.drain(settings.drainTime());
        boolean drained = orchestrator.close(settings.drainTime());
        if (drained) {
            endpoints.closeTables();
        }
        server.stop();
        headerTime.close();
        endpoints.close();
        metrics.close();
        return answered && drained;
    }

    /** {@link #drain()}, for who does not need to know. */
    @Override
    public void close() {
        drain();
    }
}
