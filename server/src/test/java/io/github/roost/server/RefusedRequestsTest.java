package io.github.roost.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.server.SmallService.Answer;
import io.github.roost.server.SmallService.Busy;
import io.github.roost.testkit.Await;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RefusedRequestsTest {
    private static final String VECTOR = "[1,2,3,4,5,6,7,8]";
    private static final String SEARCH = "{\"vector\":" + VECTOR + "}";
    private static SmallService service;

    @BeforeAll
    static void start() {
        service = SmallService.ready();
    }

    @AfterAll
    static void end() {
        service.close();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{ | 400 | the body must be JSON: ",
                "`` | 400 | the body must be JSON, got an empty body",
                "null | 400 | the body must be JSON: null is not allowed, leave the field out",
                "[] | 400 | the body does not fit: ",
                "{\"vector\":[1,2,3,4,5,6,7,8]} x | 400 | the body must be JSON: ",
                "{\"vector\":[1],\"vector\":[1]} | 400 | the body must be JSON: Duplicate",
                "{\"vektor\":[1]} | 400 | the body must have no other fields than ",
                "{\"vector\":\"a\"} | 400 | the body does not fit: vector: ",
                "{\"vector\":[1,\"a\"]} | 400 | the body does not fit: vector",
                "{\"like\":\"games-1\",\"k\":\"5\"} | 400 | the body does not fit: k: ",
                "{\"like\":\"games-1\",\"k\":1.5} | 400 | the body does not fit: k: ",
                "{\"like\":\"games-1\",\"k\":99999999999} | 400 | the body does not fit: k: must be a whole number of 32 bits",
                "{\"like\":\"games-1\",\"k\":null} | 400 | the body ",
                "{} | 422 | a search must have either vector or like, got neither",
                "{\"vector\":[1],\"like\":\"a\"} | 422 | a search must have either vector or like, got both",
                "{\"vector\":[1,2,3]} | 422 | vector must have 8 dimensions, got 3",
                "{\"vector\":[1,2,3,4,5,6,7,NaN]} | 422 | vector must be finite, got NaN in dimension 7",
                "{\"vector\":[1,2,3,4,5,6,1e99,8]} | 422 | vector must be finite, got Infinity in dimension 6",
                "{\"vector\":[1,2,3,4,5,6,1e30,8]} | 422 | vector must be between -1,000,000 and 1,000,000",
                "{\"like\":\"no such thing\"} | 422 | like must be the id or the name of a row, or one of the phrases of GET /phrases, got \"no such thing\"",
                "{\"like\":99999} | 422 | like must be the id or the name of a row, or one of the phrases of GET /phrases, got 99999",
                "{\"like\":1.5} | 400 | like must be a text or a whole number of 64 bits, got 1.5",
                "{\"like\":[1]} | 400 | like must be a text or a whole number of 64 bits, got [1]",
                "{\"like\":7,\"effort\":64,\"targetRecall\":0.9} | 422 | a search may have effort or targetRecall, got both",
                "{\"like\":7,\"effort\":0} | 422 | effort must be at least 1, got 0",
                "{\"like\":7,\"effort\":9} | 422 | ef must be between 10 and 100,000, got 9",
                "{\"like\":7,\"targetRecall\":1.5} | 422 | recall must be over 0 and at most 1, got 1.5",
                "{\"like\":7,\"filter\":{\"a\":1}} | 400 | filter must have no other fields than attributes, ids, nameContains, notIds, got \"a\"",
                "{\"like\":7,\"filter\":{\"ids\":[true]}} | 400 | filter.ids must be whole numbers of 64 bits, or texts, got true",
                "{\"like\":7,\"filter\":{\"notIds\":[1.5]}} | 400 | filter.notIds must be whole numbers of 64 bits, or texts, got 1.5",
                "{\"like\":7,\"filter\":{\"attributes\":{\"size\":1e999}}} | 400 | filter.attributes.size must be a text, a number",
                "{\"like\":7,\"filter\":{\"attributes\":{\"kind\":{}}}} | 400 | filter.attributes.kind must be a text, a number, true or false, or an array of these, got {}",
                "{\"like\":\"games-1\",\"k\":0} | 422 | k must be between 1 and 1,000, got 0",
                "{\"like\":\"games-1\",\"k\":1001} | 422 | k must be between 1 and 1,000, got 1001",
                "{\"like\":\"games-1\",\"deadlineMs\":0} | 422 | deadlineMs must be between 1 and 10,000, got 0",
            })
    void aSearchThatCannotBeIsToldInOneSentence(String body, int status, String sentence) {
        Answer answer = service.post("/tables/games/search", body);

        assertThat(answer.status()).as(answer.response().body()).isEqualTo(status);
        assertThat(answer.error()).startsWith(sentence).doesNotContain("\n", "io.github", "java.");
        assertThat(answer.json()).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "GET | /tables/nothing | 404 | there is no table nothing, GET /tables lists all tables",
                "POST | /tables/nothing/search | 404 | there is no table nothing",
                "POST | /tables/nothing/vectors | 404 | there is no table nothing",
                "DELETE | /tables/games/vectors/99999 | 404 | table games has no row 99999",
                "DELETE | /tables/games/vectors/many | 404 | table games has no row many",
                "GET | /nowhere | 404 | there is nothing at /nowhere",
                "GET | /search | 405 | the method must be POST here, got GET",
                "POST | /tables | 405 | the method must be GET here, got POST",
                "PUT | /tables/games/vectors | 405 | the method must be POST here, got PUT",
            })
    void aRequestForWhatIsNotThereIsToldInOneSentence(String method, String path, int status, String sentence) {
        Answer answer = service.send(service.posting(path, SEARCH)
                .method(method, BodyPublishers.ofString(SEARCH))
                .build());

        assertThat(answer.status()).as(answer.response().body()).isEqualTo(status);
        assertThat(answer.error()).startsWith(sentence);
    }

    @Test
    void aMethodThatIsNotAllowedIsToldWhichAre() {
        assertThat(service.delete("/search").response().headers().firstValue("Allow"))
                .contains("POST");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{} | 422 | vectors must have between 1 and 1,000 entries, got 0",
                "{\"vectors\":[]} | 422 | vectors must have between 1 and 1,000 entries, got 0",
                "{\"vectors\":[null]} | 400 | the body ",
                "{\"vectors\":[{\"id\":1}]} | 422 | vector 0 must have a vector, and an id or a key that is not empty",
                "{\"vectors\":[{\"key\":\"\",\"vector\":" + VECTOR
                        + "}]} | 422 | vector 0 must have a vector, and an id or a key",
                "{\"vectors\":[{\"key\":\"-17\",\"vector\":" + VECTOR
                        + "}]} | 422 | vector 0: a key must be a text of at most 500",
                "{\"vectors\":[{\"key\":\"..\",\"vector\":" + VECTOR
                        + "}]} | 422 | vector 0: a key must be a text of at most 500",
                "{\"vectors\":[{\"key\":\"a\\nb\",\"vector\":" + VECTOR
                        + "}]} | 422 | vector 0: a key must be a text of at most 500",
                "{\"vectors\":[{\"id\":1,\"key\":\"one\",\"vector\":" + VECTOR
                        + "}]} | 422 | vector 0 must have a vector, and an id or a key",
                "{\"vectors\":[{\"id\":1,\"key\":\"\",\"vector\":" + VECTOR
                        + "}]} | 422 | vector 0 must have a vector, and an id or a key",
                "{\"vectors\":[{\"key\":\"one\",\"vector\":" + VECTOR + "},{\"key\":\"one\",\"vector\":" + VECTOR
                        + "}]} | 422 | vector 1 has the id or key of an earlier one, one",
                "{\"vectors\":[{\"id\":1,\"vector\":" + VECTOR
                        + ",\"attributes\":{\"by\":{}}}]} | 400 | vector 0: attributes.by must be a text, a number, true or false, or an array of these, got {}",
                "{\"vectors\":[{\"id\":1,\"vector\":" + VECTOR
                        + ",\"attributes\":3}]} | 400 | the body does not fit: vectors",
                "{\"vectors\":[{\"id\":1,\"vector\":[1,2]}]} | 422 | vector 0 must have 8 dimensions, got 2",
                "{\"vectors\":[{\"id\":1,\"vector\":" + VECTOR + "},{\"id\":1,\"vector\":" + VECTOR
                        + "}]} | 422 | vector 1 has the id or key of an earlier one, 1",
            })
    void rowsThatCannotBePutAreToldInOneSentence(String body, int status, String sentence) {
        Answer answer = service.post("/tables/games/vectors", body);

        assertThat(answer.status()).as(answer.response().body()).isEqualTo(status);
        assertThat(answer.error()).startsWith(sentence);
    }

    @ParameterizedTest
    @ValueSource(strings = {"text/plain", "json", "application/jsonp", ";application/json"})
    void aBodyThatIsNotJsonByItsTypeIsRefused(String type) {
        Answer answer = service.send(HttpRequest.newBuilder(service.uri("/search"))
                .header("Content-Type", type)
                .POST(BodyPublishers.ofString(SEARCH))
                .build());

        assertThat(answer.status()).isEqualTo(415);
        assertThat(answer.error()).isEqualTo("the content type must be application/json, got " + type);
    }

    @ParameterizedTest
    @ValueSource(strings = {"application/json; charset=utf-8", "Application/JSON"})
    void aBodyThatIsJsonByItsTypeIsReadHoweverThatIsWritten(String type) {
        Answer answer = service.send(HttpRequest.newBuilder(service.uri("/tables/games/search"))
                .header("Content-Type", type)
                .POST(BodyPublishers.ofString(SEARCH))
                .build());

        assertThat(answer.status()).isEqualTo(200);
    }

    @Test
    void aBodyOverTheLimitIsRefusedWhetherItsLengthIsToldOrNot() {
        byte[] large = ("{\"like\":\"" + "a".repeat(2 << 20) + "\"}").getBytes(StandardCharsets.UTF_8);
        for (HttpRequest.BodyPublisher body : List.of(
                BodyPublishers.ofByteArray(large), BodyPublishers.fromPublisher(BodyPublishers.ofByteArray(large)))) {
            HttpRequest request = HttpRequest.newBuilder(service.uri("/search"))
                    .header("Content-Type", "application/json")
                    .POST(body)
                    .build();
            Answer answer = service.send(request);
            assertThat(answer.status()).isEqualTo(413);
            assertThat(answer.error()).isEqualTo("the body must not be larger than 1,048,576 bytes");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "7fffffff | 413 ",
                "zz | 400 ",
                "-5 | 400 ",
                "7fffffffffffffff | 400 ",
            })
    void aChunkThatCannotBeIsRefusedBeforeItComes(String size, String status) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), service.service.port())) {
            socket.getOutputStream()
                    .write(("POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                                    + "Transfer-Encoding: chunked\r\n\r\n" + size + "\r\n{}")
                            .getBytes(StandardCharsets.US_ASCII));

            assertThat(statusLine(socket.getInputStream())).startsWith("HTTP/1.1 " + status);
        }
    }

    @Test
    void aBodyFarOverTheLimitIsRefusedBeforeItComesWhereverItGoes() throws IOException {
        for (String path : List.of("/search", "/nowhere")) {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), service.service.port())) {
                // Longer than any body may take; without an end the answer would be waited for for ever.
                socket.setSoTimeout(20_000);
                socket.getOutputStream()
                        .write(("POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                                        + "Content-Length: 9999999999\r\n\r\n{}")
                                .getBytes(StandardCharsets.US_ASCII));
                String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

                assertThat(answer)
                        .startsWith("HTTP/1.1 413 ")
                        .endsWith("{\"error\":\"the body must not be larger than 1,048,576 bytes\"}");
            }
        }
    }

    @Test
    void aClientThatGoesInTheMiddleOfItsBodyIsNoFailureOfTheService() throws IOException {
        try (SmallService one = SmallService.withOneWorker(8, ServeSettings.DEFAULT)) {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), one.service.port())) {
                socket.getOutputStream()
                        .write(("POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                                        + "Content-Length: 60\r\n\r\n{\"like\":")
                                .getBytes(StandardCharsets.US_ASCII));
                Await.until(() -> inFlight(one) > 0);
            }
            Await.until(() -> inFlight(one) == 0);

            assertThat(one.send(HttpRequest.newBuilder(one.uri("/metrics")).build())
                            .response()
                            .body())
                    .doesNotContain("status=\"500\"");
        }
    }

    private static int inFlight(SmallService service) {
        return service.get("/stats").json().path("service").path("inFlight").asInt();
    }

    @Test
    void aFullServiceSaysWhenToComeBack() {
        try (SmallService full = SmallService.withOneWorker(1, ServeSettings.DEFAULT);
                Busy busy = full.busyWorker()) {
            var _ = full.orchestrator.submit(
                    (query, context) -> query, 0, busy.registration().id());

            Answer answer = full.post("/tables/games/search", SEARCH);

            assertThat(answer.status()).isEqualTo(429);
            assertThat(answer.error()).isEqualTo("the service is full: ask again later");
            assertThat(answer.response().headers().firstValue("Retry-After")).contains("1");
            assertThat(full.get("/stats").json().path("service").path("shed").asInt())
                    .isEqualTo(1);
        }
    }

    @Test
    void moreSearchesAtATimeThanTheWorkersCanUseAreShedThoughTheirRingsHaveRoom() {
        try (SmallService full = SmallService.withOneWorker(1_024, ServeSettings.DEFAULT);
                Busy busy = full.busyWorker()) {
            List<CompletableFuture<Integer>> accepted = new ArrayList<>();
            for (int i = 0; i < Endpoints.SEARCHES_PER_WORKER; i++) {
                accepted.add(full.postLater("/tables/games/search", SEARCH));
            }
            while (full.orchestrator.stats().domains().getFirst().waiting() < accepted.size()) {
                Thread.onSpinWait();
            }

            assertThat(full.post("/tables/games/search", SEARCH).status()).isEqualTo(429);
            busy.end().countDown();
            assertThat(accepted).allMatch(future -> future.join() == 200);
            assertThat(full.post("/tables/games/search", SEARCH).status()).isEqualTo(200);
        }
    }

    @Test
    void aSearchPastItsDeadlineIsToldSo() {
        try (SmallService slow = SmallService.withOneWorker(8, ServeSettings.DEFAULT);
                Busy busy = slow.busyWorker()) {
            Answer answer = slow.post("/tables/games/search", "{\"like\":\"games-1\",\"deadlineMs\":5}");

            assertThat(answer.status()).isEqualTo(504);
            assertThat(answer.error()).isEqualTo("the search was not answered within its 5 ms");
            assertThat(busy.isBusy()).isTrue();
        }
    }

    @Test
    void clientsThatSendSlowlyHoldNoWorkerAndAreCutOff() throws IOException {
        ServeSettings impatient = ServeSettings.DEFAULT.withBodies(1_000, Duration.ofMillis(400));
        List<Socket> slow = new ArrayList<>();
        try (SmallService one = SmallService.withOneWorker(8, impatient)) {
            for (int i = 0; i < 40; i++) {
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), one.service.port());
                slow.add(socket);
                socket.getOutputStream()
                        .write(("POST /tables/games/search HTTP/1.1\r\nHost: localhost\r\n"
                                        + "Content-Type: application/json\r\nContent-Length: 60\r\n\r\n{\"like\":")
                                .getBytes(StandardCharsets.US_ASCII));
            }

            assertThat(one.post("/tables/games/search", SEARCH).status()).isEqualTo(200);
            for (Socket socket : slow) {
                assertThat(statusLine(socket.getInputStream())).isEmpty();
                socket.close();
            }
        }
    }

    @Test
    void bodiesThatAreBeingReadTogetherHoldNoMoreThanSixtyFourOfTheLargest() throws Exception {
        ServeSettings small = ServeSettings.DEFAULT.withBodies(1_000, Duration.ofSeconds(30));
        String longest = SEARCH + " ".repeat(900);
        List<Socket> slow = new ArrayList<>();
        try (SmallService one = SmallService.withOneWorker(8, small)) {
            assertThat(one.post("/tables/games/search", longest).status()).isEqualTo(200);
            for (int i = 0; i < 70; i++) {
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), one.service.port());
                slow.add(socket);
                socket.getOutputStream()
                        .write(("POST /tables/games/search HTTP/1.1\r\nHost: localhost\r\n"
                                        + "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
                                        + " ".repeat(990))
                                .getBytes(StandardCharsets.US_ASCII));
            }

            awaitStatus(429, one, longest);
            for (Socket socket : slow) {
                socket.close();
            }
            awaitStatus(200, one, longest);
        }
    }

    @Test
    void smallBodiesAreReadThoughLargeOnesThatStallHoldAllTheRoom() throws Exception {
        ServeSettings small = ServeSettings.DEFAULT.withBodies(64_000, Duration.ofSeconds(30));
        String large = SEARCH + " ".repeat(32_000);
        List<Socket> slow = new ArrayList<>();
        try (SmallService one = SmallService.withOneWorker(8, small)) {
            for (int i = 0; i < 70; i++) {
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), one.service.port());
                slow.add(socket);
                socket.getOutputStream()
                        .write(("POST /tables/games/search HTTP/1.1\r\nHost: localhost\r\n"
                                        + "Content-Type: application/json\r\nContent-Length: 64000\r\n\r\n"
                                        + " ".repeat(63_990))
                                .getBytes(StandardCharsets.US_ASCII));
            }
            awaitStatus(429, one, large);

            assertThat(one.post("/tables/games/search", SEARCH + " ".repeat(900))
                            .status())
                    .isEqualTo(200);

            for (Socket socket : slow) {
                socket.close();
            }
            awaitStatus(200, one, large);
        }
    }

    /** Sends a byte whenever the one before has been taken, until the service has closed the connection. */
    private static void sendByteByByte(SmallService service, String begin) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), service.service.port())) {
            socket.getOutputStream().write(begin.getBytes(StandardCharsets.US_ASCII));
            socket.setSoTimeout(20);
            while (true) {
                try {
                    if (socket.getInputStream().read() < 0) {
                        return;
                    }
                } catch (SocketTimeoutException stillOpen) {
                    socket.getOutputStream().write('x');
                }
            }
        } catch (SocketException reset) {
            // Closed while a byte was on its way.
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET /", "GET /tables HTTP/1.1\r\nHost: localhost\r\nName: "})
    @Timeout(60)
    void whoSendsTheHeadOfARequestByteByByteIsCutOff(String begin) throws IOException {
        ServeSettings impatient = ServeSettings.DEFAULT.withBodies(1_000, Duration.ofMillis(100));
        try (SmallService one = SmallService.withOneWorker(8, impatient)) {
            sendByteByByte(one, begin);

            assertThat(one.post("/tables/games/search", SEARCH).status()).isEqualTo(200);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "POST /nowhere HTTP/1.1\r\nContent-Type: application/json",
                "PUT /search HTTP/1.1\r\nContent-Type: application/json",
                "POST /search HTTP/1.1\r\nContent-Type: text/plain",
                "POST /tables/nothing/search HTTP/1.1\r\nContent-Type: application/json",
                "GET /metrics HTTP/1.1\r\nAccept: text/plain",
            })
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void whoSendsABodyThatNoRouteReadsByteByByteIsCutOff(String begin) throws IOException {
        ServeSettings impatient = ServeSettings.DEFAULT.withBodies(1_000_000, Duration.ofMillis(100));
        try (SmallService one = SmallService.withOneWorker(8, impatient)) {
            sendByteByByte(one, begin + "\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n");

            assertThat(one.post("/tables/games/search", SEARCH).status()).isEqualTo(200);
        }
    }

    @Test
    void aBodyThatNoRouteReadsIsNotTakenForTheNextRequest() throws IOException {
        String hidden = "GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n";
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), service.service.port())) {
            socket.getOutputStream()
                    .write(("POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + hidden.length()
                                    + "\r\n\r\n" + hidden
                                    + "NONSENSE\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            String answers = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

            assertThat(answers)
                    .startsWith("HTTP/1.1 404 ")
                    .contains("HTTP/1.1 400 ")
                    .doesNotContain("HTTP/1.1 200 ");
        }
    }

    private static Socket unread(SmallService service) throws IOException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(4_096);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), service.service.port()));
        return socket;
    }

    /** Asks for more and more, and reads nothing, until the service has closed the connection. */
    private static void askWithoutReading(Socket socket) throws IOException {
        byte[] request = "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
        while (true) {
            socket.getOutputStream().write(request);
        }
    }

    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aClientThatDoesNotReadItsAnswersIsCutOff() throws IOException {
        ServeSettings impatient = ServeSettings.DEFAULT.withBodies(1 << 20, Duration.ofMillis(400));
        try (SmallService one = SmallService.withOneWorker(8, impatient);
                Socket socket = unread(one)) {
            assertThatThrownBy(() -> askWithoutReading(socket)).isInstanceOf(SocketException.class);

            Await.until(() -> inFlight(one) == 0);
        }
    }

    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void answersThatAreNotReadHoldNoMoreThanTheRoomForThem() throws IOException {
        ServeSettings small = ServeSettings.DEFAULT.withBodies(100, Duration.ofSeconds(50));
        try (SmallService one = SmallService.withOneWorker(8, small)) {
            try (Socket socket = unread(one)) {
                Thread.ofVirtual().start(() -> assertThatThrownBy(() -> askWithoutReading(socket)));
                // Between two answers no request is in flight.
                Await.until(() -> IntStream.range(0, 50).allMatch(i -> inFlight(one) == 1));

                assertThat(one.get("/openapi.json").status()).isEqualTo(429);
                assertThat(one.get("/health/live").status()).isEqualTo(200);
                assertThat(one.post("/tables/games/search", SEARCH).status()).isEqualTo(200);
            }
            Await.until(() -> one.get("/openapi.json").status() == 200);
        }
    }

    /** Bodies are read by and by. */
    private static void awaitStatus(int status, SmallService service, String search) {
        Await.until(() -> service.post("/tables/games/search", search).status() == status);
    }

    private static String statusLine(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = in.read(); next >= 0 && next != '\r'; next = in.read()) {
            line.append((char) next);
        }
        return line.toString();
    }

    @Test
    void whatIsNotHttpIsRefusedInTheSameForm() throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), service.service.port())) {
            socket.getOutputStream().write("NONSENSE\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

            assertThat(answer).startsWith("HTTP/1.1 400 ").endsWith("Bad Request\"}");
        }
    }

    @Test
    void writesNeedTheTokenWhereThereIsOneAndReadsDoNot() {
        ServeSettings guarded = ServeSettings.DEFAULT.withHost("127.0.0.1", "s3cret");
        try (SmallService service = SmallService.withOneWorker(8, guarded)) {
            String put = "{\"vectors\":[{\"id\":1,\"vector\":" + VECTOR + "}]}";

            assertThat(service.post("/tables/games/search", SEARCH).status()).isEqualTo(200);
            Answer without = service.post("/tables/games/vectors", put);
            assertThat(without.status()).isEqualTo(401);
            assertThat(without.response().headers().firstValue("WWW-Authenticate"))
                    .contains("Bearer");
            assertThat(service.delete("/tables/games/vectors/1").status()).isEqualTo(401);
            for (String wrong : List.of("Bearer s3cre", "Bearer s3cret2", "Basic s3cret", "Bearer ", "s3cret")) {
                assertThat(service.send(service.posting("/tables/games/vectors", put)
                                        .header("Authorization", wrong)
                                        .build())
                                .status())
                        .as(wrong)
                        .isEqualTo(401);
            }
            assertThat(service.send(service.posting("/tables/games/vectors", put)
                                    .header("Authorization", "Bearer s3cret")
                                    .build())
                            .status())
                    .isEqualTo(200);
        }
    }

    @Test
    void withoutATokenAWriteUnderAnotherNameOfThisMachineIsRefused() throws IOException {
        String put = "{\"vectors\":[{\"id\":1,\"vector\":" + VECTOR + "}]}";
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), service.service.port())) {
            socket.getOutputStream()
                    .write(("POST /tables/games/vectors HTTP/1.1\r\nHost: evil.example:80\r\nContent-Length: "
                                    + put.length() + "\r\nContent-Type: application/json\r\n\r\n" + put)
                            .getBytes(StandardCharsets.US_ASCII));

            assertThat(statusLine(socket.getInputStream())).contains(" 403 ");
        }
    }

    @Test
    void withoutATokenAWriteMayNameTheAddressThatWasBound() throws IOException {
        try (SmallService other = SmallService.withOneWorker(8, ServeSettings.DEFAULT.withHost("127.0.0.2", null));
                Socket socket = new Socket("127.0.0.2", other.service.port())) {
            socket.getOutputStream()
                    .write(("DELETE /tables/games/vectors/1 HTTP/1.1\r\nHost: 127.0.0.2:" + other.service.port()
                                    + "\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));

            assertThat(statusLine(socket.getInputStream())).contains(" 200 ");
        }
    }

    @Test
    void aTokenThatNoHeaderCanCarryIsRefused() {
        for (String token : List.of(" s3cret", "s3cret\n", "s3cr\u00e4t", "two words")) {
            assertThatThrownBy(() -> ServeSettings.DEFAULT.withHost("127.0.0.1", token))
                    .hasMessage("ROOST_TOKEN must be of visible ASCII characters, without blanks")
                    .hasMessageNotContaining(token);
        }
    }

    @Test
    void onlyThisMachineIsBoundWithoutAToken() {
        assertThat(ServeSettings.DEFAULT.host()).isEqualTo("127.0.0.1");
        assertThatThrownBy(() -> ServeSettings.DEFAULT.withHost("0.0.0.0", null))
                .hasMessageContaining("ROOST_TOKEN must be set to bind 0.0.0.0");
        assertThat(ServeSettings.DEFAULT.withHost("0.0.0.0", "s3cret").host()).isEqualTo("0.0.0.0");
    }
}
