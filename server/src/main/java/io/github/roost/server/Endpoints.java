package io.github.roost.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorStats;
import io.github.roost.core.Registration;
import io.github.roost.server.ServeMetrics.ServiceStats;
import io.github.roost.topology.text.TopologyJson;
import io.github.roost.vector.VectorTable;
import io.helidon.http.HeaderNames;
import io.helidon.webserver.http.ServerRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The operations of the service, without routing and access checks, see {@link Routes}. Thread-safe. */
final class Endpoints {
    private static final int MAX_VECTORS = 1_000;
    private static final int MAX_KEY = 500;
    private static final int MAX_SHOWN = 40;
    private static final Pattern NUMBER = Pattern.compile("[-+]?[0-9]+");
    /**
     * Maximum searches in flight per worker. Enough that no worker runs out of work, and so few that the last one is answered soon; further
     * searches are shed at no more cost than reading them.
     */
    static final int SEARCHES_PER_WORKER = 16;

    private final Orchestrator orchestrator;
    private final ServeMetrics metrics;
    private final InFlight inFlight;
    private final RequestBody bodies;
    private final WriteGuard guard;
    private final ServeSettings settings;
    private final Semaphore searchesLeft;

    /** The tables, once they are built. Written once, complete, by the thread that built them. */
    private volatile @Nullable Served served;

    private record Served(Tables tables, Searches searches) {}

    Endpoints(
            Orchestrator orchestrator,
            ServeMetrics metrics,
            InFlight inFlight,
            RequestBody bodies,
            ServeSettings settings) {
        this.orchestrator = orchestrator;
        this.metrics = metrics;
        this.inFlight = inFlight;
        this.bodies = bodies;
        this.guard = new WriteGuard(settings.token(), settings.host());
        this.settings = settings;
        this.searchesLeft = new Semaphore(SEARCHES_PER_WORKER * orchestrator.workers());
    }

    void serve(Tables tables) {
        served = new Served(tables, new Searches(orchestrator, tables, settings.searchTime()));
    }

    /** Frees the tables, if there are any; no search may use them afterwards. */
    void closeTables() {
        Served now = served;
        if (now != null) {
            now.tables().close();
        }
    }

    private Served served() {
        Served now = served;
        if (now == null) {
            throw new Problem(503, "the tables are being built");
        }
        return now;
    }

    private ServedTable table(ServerRequest request) {
        String name = request.path().pathParameters().get("name");
        return served().tables()
                .find(name)
                .orElseThrow(() -> new Problem(404, "there is no table " + name + ", GET /tables lists all tables"));
    }

    private DescribedTable changeable(ServerRequest request) {
        return switch (table(request)) {
            case DescribedTable described -> described;
            case SavedTable saved ->
                throw new Problem(409, "table " + saved.name() + " is served as it was saved: it takes no changes");
        };
    }

    /** The description of one table. */
    record TableView(String name, int rows, int dimension, String metric, List<Integer> homes) {}

    private TableView view(ServedTable table) {
        return new TableView(
                table.name(),
                table.rows().size(),
                table.rows().dimension(),
                table.rows().metric().name(),
                homes(table.rows().registration()));
    }

    private List<Integer> homes(Registration table) {
        return IntStream.range(0, table.size())
                .mapToObj(index -> orchestrator.homes(table.id(index)))
                .flatMap(List::stream)
                .distinct()
                .sorted()
                .toList();
    }

    /** The descriptions of all tables. */
    record TableList(List<TableView> tables) {}

    Reply tables(ServerRequest request) {
        return Reply.json(
                new TableList(served().tables().all().stream().map(this::view).toList()));
    }

    Reply oneTable(ServerRequest request) {
        return Reply.json(view(table(request)));
    }

    /** The phrases that a search may use as {@code like}. */
    record PhraseList(List<String> phrases) {}

    Reply phrases(ServerRequest request) {
        return Reply.json(new PhraseList(served().tables().phrases()));
    }

    Reply searchOne(ServerRequest request) {
        return search(request, List.of(table(request)));
    }

    Reply searchAll(ServerRequest request) {
        return search(request, served().tables().all());
    }

    private Reply search(ServerRequest request, List<ServedTable> among) {
        long began = System.nanoTime();
        SearchBody requested = bodies.read(request, SearchBody.class);
        if (!searchesLeft.tryAcquire()) {
            throw Searches.full();
        }
        try {
            Reply reply = Reply.json(served().searches().answer(among, requested));
            metrics.searched(System.nanoTime() - began);
            return reply;
        } finally {
            searchesLeft.release();
        }
    }

    /** The body of a request to put rows. */
    record PutRequest(@Nullable List<PutVector> vectors) {
        /** One row, which has an id or a key; its words may be absent. */
        record PutVector(
                @Nullable Long id,
                @Nullable String key,
                float @Nullable [] vector,
                @Nullable String name,
                @Nullable String text,
                @Nullable Map<String, JsonNode> attributes) {}
    }

    /** The numbers of rows added and replaced. */
    record PutAnswer(int added, int replaced) {}

    Reply put(ServerRequest request) {
        guard.check(request);
        DescribedTable table = changeable(request);
        List<NewVector> vectors = checked(bodies.read(request, PutRequest.class).vectors(), table.rows());
        int added = table.put(vectors);
        return Reply.json(new PutAnswer(added, vectors.size() - added));
    }

    /** Checks all rows before any is put. */
    private static List<NewVector> checked(@Nullable List<PutRequest.PutVector> requested, VectorTable rows) {
        if (requested == null || requested.isEmpty() || requested.size() > MAX_VECTORS) {
            throw new Problem(
                    422,
                    "vectors must have between 1 and 1,000 entries, got " + (requested == null ? 0 : requested.size()));
        }
        List<NewVector> vectors = new ArrayList<>();
        for (PutRequest.PutVector next : requested) {
            String what = "vector " + vectors.size();
            String key = requested(next.key());
            if (!isKey(key)) {
                throw new Problem(
                        422,
                        what + ": a key must be a text of at most " + MAX_KEY
                                + " characters in one line that is no number and no . or .., got "
                                + key.substring(0, Math.min(key.length(), MAX_SHOWN)));
            }
            boolean hasKey = next.key() != null;
            if (next.vector() == null || (next.id() == null) != hasKey || (hasKey && key.isEmpty())) {
                throw new Problem(422, what + " must have a vector, and an id or a key that is not empty");
            }
            Searches.requireVector(what, next.vector(), rows.dimension(), rows.metric());
            vectors.add(new NewVector(next.id(), item(what, key, next), next.vector()));
        }
        return vectors;
    }

    /** Whether a text can be told from an id, and be a part of a path. */
    private static boolean isKey(String key) {
        return key.length() <= MAX_KEY && !NUMBER.matcher(key).matches() && Item.canEndPath(key);
    }

    private static String requested(@Nullable String text) {
        return text == null ? "" : text;
    }

    private static Item item(String what, String key, PutRequest.PutVector requested) {
        Map<String, JsonNode> attributes = requested.attributes();
        String known = key.isEmpty() ? String.valueOf(requested.id()) : key;
        return new Item(
                key,
                requested.name() == null ? known : requested.name(),
                requested(requested.text()),
                attributes == null ? RowAttributes.NONE : RowAttributes.of(what + ": attributes", attributes));
    }

    /** The id of the removed row. */
    record RemoveAnswer(long removed) {}

    Reply remove(ServerRequest request) {
        guard.check(request);
        DescribedTable table = changeable(request);
        String text = request.path().pathParameters().get("id");
        long id = table.idOf(text)
                .filter(table::remove)
                .orElseThrow(() -> new Problem(404, "table " + table.name() + " has no row " + text));
        return Reply.json(new RemoveAnswer(id));
    }

    /** The OpenAPI description, with the dimension of the tables filled in. */
    Reply description(ServerRequest request) {
        int dimension = served().tables().dimension();
        JsonNode description = Json.tree(Resources.bytes("openapi.json"));
        ObjectNode vector = (ObjectNode) description.at("/components/schemas/Vector");
        vector.put("minItems", dimension).put("maxItems", dimension);
        return new Reply(200, "application/json", Json.write(description), Map.of());
    }

    Reply mapping(ServerRequest request) {
        return Reply.json(orchestrator.mapping());
    }

    Reply topology(ServerRequest request) {
        return Reply.text("application/json", TopologyJson.of(orchestrator.topology()));
    }

    /** The statistics of the service and of its orchestrator. */
    record Stats(ServiceStats service, OrchestratorStats orchestrator) {}

    Reply stats(ServerRequest request) {
        return Reply.json(new Stats(metrics.stats(), orchestrator.stats()));
    }

    Reply metrics(ServerRequest request) {
        return metrics.scrape(request.headers().first(HeaderNames.ACCEPT).orElse(""));
    }

    /** The state of the service. */
    record Health(String status) {}

    Reply live(ServerRequest request) {
        return Reply.json(new Health("live"));
    }

    Reply ready(ServerRequest request) {
        if (inFlight.isShut()) {
            return Reply.json(503, new Health("draining"));
        }
        return served == null ? Reply.json(503, new Health("building")) : Reply.json(new Health("ready"));
    }
}
