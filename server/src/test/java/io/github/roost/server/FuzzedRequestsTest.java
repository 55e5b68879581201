package io.github.roost.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.server.SmallService.Answer;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tag;
import net.jqwik.api.Tuple;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/** Bodies that nearly fit: answered, or refused in one sentence, and never a fault of the service. */
@Tag("stress")
class FuzzedRequestsTest {
    @SuppressWarnings("NullAway.Init")
    private static SmallService service;

    @BeforeContainer
    static void start() {
        service = SmallService.ready();
    }

    @AfterContainer
    static void end() {
        service.close();
    }

    @Provide
    static Arbitrary<String> values() {
        Arbitrary<String> odd = Arbitraries.of(
                "null",
                "true",
                "0",
                "-1",
                "1e400",
                "-0.0",
                "1e-400",
                "9223372036854775808",
                "NaN",
                "\"games-1\"",
                "\"\\u0000\"",
                "\"\\ud800\"",
                "[]",
                "[[]]",
                "[1,2,3,4,5,6,7,8]",
                "[1,2,3,4,5,6,7,null]",
                "{}",
                "{\"k\":1}",
                "{");
        return Arbitraries.oneOf(
                odd,
                Arbitraries.integers().map(String::valueOf),
                Arbitraries.strings().ofMaxLength(8));
    }

    @Provide
    static Arbitrary<String> bodies() {
        Arbitrary<String> names =
                Arbitraries.of("vector", "like", "k", "deadlineMs", "table", "tables", "id", "text", "name", "x");
        Arbitrary<String> field = Combinators.combine(names, values()).as((name, value) -> '"' + name + "\":" + value);
        Arbitrary<String> object = field.list().ofMaxSize(4).map(fields -> "{" + String.join(",", fields) + "}");
        return Arbitraries.frequencyOf(Tuple.of(4, object), Tuple.of(1, values()));
    }

    @Property(tries = 300)
    void aSearchIsAnsweredOrRefused(@ForAll("bodies") String body) {
        Answer answer = service.post("/tables/games/search", body);
        assertThat(answer.status())
                .as("%s -> %s", body, answer.response().body())
                .isIn(200, 400, 413, 422);
        assertThat(answer.json().isObject()).isTrue();
        if (answer.status() != 200) {
            assertThat(answer.error()).isNotBlank().doesNotContain("io.github", "java.");
        }
    }
}
