package io.github.roost.server;

import io.github.roost.core.Orchestrator;
import io.github.roost.testkit.TemporaryFolder;
import io.github.roost.testkit.packages.DebianPackages;
import io.github.roost.testkit.packages.DebianPackages.Section;
import io.github.roost.topology.Topology;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/**
 * A training run for the JVM's ahead-of-time cache: starts the service on a few small tables, as on a first and on a second start, and sends the
 * requests of the status page and of a client, so that the classes needed for a start and the first answers are loaded.
 */
public final class Rehearsal {
    private static final int TABLES = 4;
    private static final int SEARCHES = 200;
    private static final List<String> PAGE = List.of(
            "",
            "status.css",
            "status.js",
            "stats",
            "mapping",
            "topology",
            "tables",
            "phrases",
            "metrics",
            "openapi.json");

    private Rehearsal() {}

    /**
     * Runs the rehearsal.
     *
     * @param folder the folder of the Debian packages
     * @param topology the topology to run on
     */
    public static void run(Path folder, Topology topology) throws IOException {
        DebianPackages all = DebianPackages.read(folder);
        List<Section> smallest =
                all.sections().reversed().stream().limit(TABLES).toList();
        PackageTables few = new PackageTables(
                new DebianPackages(all.packages(), all.vectors(), smallest, all.queries(), all.phrases()));
        try (TemporaryFolder kept = new TemporaryFolder("roost-rehearsal-")) {
            TableService service = new TableService(
                    ServeSettings.DEFAULT.withPort(0),
                    topology,
                    new PrintStream(PrintStream.nullOutputStream(), false));
            for (int start = 0; start < 2; start++) {
                Orchestrator orchestrator =
                        Orchestrator.builder().topology(topology).build();
                try (RoostService listening = service.listen(orchestrator)) {
                    listening.serve(service.tables(orchestrator, few, new KeptTables(kept.path(), "rehearsal")));
                    ask(URI.create("http://127.0.0.1:" + listening.port() + "/"));
                }
            }
        }
    }

    private static void ask(URI service) throws IOException {
        for (String path : PAGE) {
            answer((HttpURLConnection) service.resolve(path).toURL().openConnection());
        }
        for (int search = 0; search < SEARCHES; search++) {
            HttpURLConnection post =
                    (HttpURLConnection) service.resolve("search").toURL().openConnection();
            post.setRequestMethod("POST");
            post.setRequestProperty("Content-Type", "application/json");
            post.setDoOutput(true);
            post.getOutputStream().write("{\"like\":\"text editor\",\"k\":10}".getBytes(StandardCharsets.UTF_8));
            answer(post);
        }
    }

    private static void answer(HttpURLConnection requested) throws IOException {
        try (InputStream body = requested.getResponseCode() < HttpURLConnection.HTTP_BAD_REQUEST
                ? requested.getInputStream()
                : requested.getErrorStream()) {
            body.readAllBytes();
        }
    }
}
