package io.github.roost.server;

import io.helidon.http.Method;
import io.helidon.webserver.ServerConnectionException;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.ServerRequest;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The routes of a service: maps methods and paths to operations, and problems to answers. Requests about the service itself are always accepted,
 * others only while it is not shutting down.
 */
final class Routes {
    private static final Logger LOG = LoggerFactory.getLogger(Routes.class);

    private final InFlight inFlight;
    private final RequestBody bodies;
    private final Answers answers;
    private final List<Route> routes = new ArrayList<>();

    /** Answers a request. */
    @FunctionalInterface
    interface Operation {
        Reply answer(ServerRequest request);
    }

    private record Route(Method method, String path, Operation operation, boolean counted) {}

    Routes(Endpoints endpoints, InFlight inFlight, RequestBody bodies, Answers answers) {
        this.inFlight = inFlight;
        this.bodies = bodies;
        this.answers = answers;
        work(Method.GET, "/tables", endpoints::tables);
        work(Method.GET, "/tables/{name}", endpoints::oneTable);
        work(Method.POST, "/tables/{name}/search", endpoints::searchOne);
        work(Method.POST, "/tables/{name}/vectors", endpoints::put);
        work(Method.DELETE, "/tables/{name}/vectors/{+id}", endpoints::remove);
        work(Method.POST, "/search", endpoints::searchAll);
        work(Method.GET, "/phrases", endpoints::phrases);
        work(Method.GET, "/openapi.json", endpoints::description);
        page("/", "text/html; charset=utf-8", "index.html");
        page("/status.css", "text/css; charset=utf-8", "status.css");
        page("/status.js", "text/javascript; charset=utf-8", "status.js");
        about("/mapping", endpoints::mapping);
        about("/topology", endpoints::topology);
        about("/stats", endpoints::stats);
        about("/metrics", endpoints::metrics);
        about("/health/live", endpoints::live);
        about("/health/ready", endpoints::ready);
    }

    private void work(Method method, String path, Operation operation) {
        routes.add(new Route(method, path, operation, true));
    }

    private void about(String path, Operation operation) {
        routes.add(new Route(Method.GET, path, operation, false));
    }

    /** A file of the status page, which may load resources of this service only. */
    private void page(String path, String contentType, String file) {
        Reply reply = new Reply(
                200,
                contentType,
                Resources.bytes("page/" + file),
                Map.of("Content-Security-Policy", "default-src 'self'; img-src data:", "Cache-Control", "no-cache"));
        about(path, request -> reply);
    }

    /** All routes, including errors for other methods and paths. */
    HttpRouting.Builder routing() {
        HttpRouting.Builder routing = HttpRouting.builder();
        for (Route route : routes) {
            routing.route(route.method(), route.path(), toTheEnd(handler(route)));
        }
        Map<String, List<Route>> byPath =
                routes.stream().collect(Collectors.groupingBy(Route::path, TreeMap::new, Collectors.toList()));
        byPath.forEach((path, present) -> routing.any(path, toTheEnd(otherMethod(present))));
        return routing.any(toTheEnd((request, response) -> answers.send(
                response,
                Reply.of(
                        new Problem(404, "there is nothing at " + request.path().path())))));
    }

    /** Whatever a handler has not read of a body does not count as the next request. */
    private Handler toTheEnd(Handler handler) {
        return (request, response) -> {
            handler.handle(request, response);
            bodies.discardRest(request, response);
        };
    }

    private Handler otherMethod(List<Route> present) {
        String allowed = present.stream().map(route -> route.method().text()).collect(Collectors.joining(", "));
        return (request, response) -> answers.send(
                response,
                Reply.of(new Problem(
                                405,
                                "the method must be " + allowed + " here, got "
                                        + request.prologue().method().text()))
                        .with("Allow", allowed));
    }

    private Handler handler(Route route) {
        return (request, response) -> {
            if (!route.counted()) {
                answers.send(response, reply(route, request));
            } else if (inFlight.enter()) {
                try {
                    answers.send(response, reply(route, request));
                } finally {
                    inFlight.exit();
                }
            } else {
                answers.send(response, Reply.of(new Problem(503, "the service is shutting down")));
            }
        };
    }

    private static Reply reply(Route route, ServerRequest request) {
        try {
            return route.operation().answer(request);
        } catch (Problem problem) {
            return Reply.of(problem);
        } catch (ServerConnectionException | UncheckedIOException e) {
            // The client is gone.
            throw e;
        } catch (RuntimeException e) {
            LOG.error("{} {} failed", route.method(), route.path(), e);
            return Reply.of(new Problem(500, "the service failed at this request"));
        }
    }
}
