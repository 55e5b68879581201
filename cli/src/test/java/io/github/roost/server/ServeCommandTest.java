package io.github.roost.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.cli.CommandRun;
import io.github.roost.testkit.packages.FewPackages;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("program")
class ServeCommandTest {
    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path home;

    @BeforeEach
    void fewPackages() throws IOException {
        FewPackages.write(home.resolve("data/debian-packages"));
    }

    @Test
    void sigtermEndsTheProcessWithEverythingAcceptedAnswered() throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "--add-modules=jdk.incubator.vector",
                        "-Djvector.vectorization_provider=panama",
                        "-Droost.home=" + home,
                        "-cp",
                        System.getProperty("java.class.path"),
                        "io.github.roost.cli.RoostCommand",
                        "serve",
                        "--port",
                        "0")
                .start();
        try (BufferedReader messages = process.errorReader()) {
            URI uri = URI.create(lineWith(messages, "serving on ").replaceFirst(".*(http://\\S+/) .*", "$1"));
            CountDownLatch answered = new CountDownLatch(20);
            List<CompletableFuture<List<Integer>>> clients = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                clients.add(CompletableFuture.supplyAsync(() -> searchUntilTheEnd(uri, answered)));
            }
            answered.await();

            // Process.destroy would close its messages too.
            process.toHandle().destroy();

            assertThat(process.waitFor()).isEqualTo(128 + 15);
            assertThat(lineWith(messages, "drained: ")).isEqualTo("drained: everything accepted was answered");
            // What a client got is an answer, or word that the service is shutting down.
            assertThat(clients).allSatisfy(client -> assertThat(client.join()).containsAnyOf(200, 503));
            assertThat(clients).allSatisfy(client -> assertThat(client.join()).isSubsetOf(200, 503));
        } finally {
            process.destroyForcibly();
        }
    }

    private static String lineWith(BufferedReader messages, String start) throws IOException {
        for (String line = messages.readLine(); line != null; line = messages.readLine()) {
            if (line.startsWith(start)) {
                return line;
            }
        }
        throw new AssertionError("no line starts with " + start);
    }

    /** The statuses of all answers until nobody listens any more. */
    private static List<Integer> searchUntilTheEnd(URI service, CountDownLatch answered) {
        List<Integer> statuses = new ArrayList<>();
        HttpRequest request = HttpRequest.newBuilder(service.resolve("search"))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("{\"like\":\"a phrase\"}"))
                .build();
        try (HttpClient client = HttpClient.newHttpClient()) {
            while (true) {
                statuses.add(client.send(request, BodyHandlers.ofString()).statusCode());
                answered.countDown();
            }
        } catch (IOException e) {
            return statuses;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aPortThatIsTakenIsToldInOneLine() throws IOException {
        try (ServerSocket taken = new ServerSocket(0)) {
            CommandRun run = CommandRun.of("serve", "--port", taken.getLocalPort(), "--tables", "1");

            assertThat(run.status()).isEqualTo(1);
            assertThat(run.complaints()).hasSize(1);
            assertThat(run.complaints().getFirst()).contains("port " + taken.getLocalPort());
        }
    }

    @Test
    void bindingMoreThanThisMachineNeedsAToken() {
        assertThat(System.getenv("ROOST_TOKEN")).isNull();
        CommandRun run = CommandRun.of("serve", "--host", "0.0.0.0");

        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err().strip())
                .isEqualTo("roost: the environment variable ROOST_TOKEN must be set to bind 0.0.0.0, which others can"
                        + " reach");
    }
}
