package io.github.roost.core;

import static io.github.roost.core.TestBed.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.testkit.Machines;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a command of an executor view throws, and nobody waits for. */
@ResourceLock("the default handler of uncaught exceptions")
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UncaughtExceptionTest {
    @RegisterExtension
    final TestBed bed = new TestBed();

    private final BlockingQueue<Throwable> seen = new ArrayBlockingQueue<>(16);
    private Thread.UncaughtExceptionHandler before;

    @BeforeEach
    void handle() {
        before = Thread.getDefaultUncaughtExceptionHandler();
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> seen.add(failure));
    }

    @AfterEach
    void restore() {
        Thread.setDefaultUncaughtExceptionHandler(before);
    }

    @ParameterizedTest
    @ValueSource(classes = {IllegalStateException.class, AssertionError.class, StackOverflowError.class})
    void theHandlerGetsItAndTheWorkerGoesOn(Class<? extends Throwable> kind) throws Exception {
        Orchestrator orchestrator = bed.open(Machines.orchestrator(1, 1));
        ExecutorService executor =
                orchestrator.executor(orchestrator.register("table").id());
        Throwable thrown = kind.getDeclaredConstructor().newInstance();
        executor.execute(throwing(thrown));
        assertThat(seen.poll(5, TimeUnit.SECONDS)).isSameAs(thrown);
        assertThat(get(executor.submit(() -> 1))).isOne();
        assertThat(orchestrator.stats().broken()).isFalse();
        executor.shutdown();
        assertThat(executor.awaitTermination(5, TimeUnit.SECONDS)).isTrue();
        assertThat(seen).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(classes = {IllegalStateException.class, AssertionError.class})
    void whatAFutureReportsDoesNotReachTheHandler(Class<? extends Throwable> kind) throws Exception {
        Orchestrator orchestrator = bed.open(Machines.orchestrator(1, 1));
        ExecutorService executor =
                orchestrator.executor(orchestrator.register("table").id());
        Throwable thrown = kind.getDeclaredConstructor().newInstance();
        TestBed.done(List.of(executor.submit(throwing(thrown))));
        assertThat(get(executor.submit(() -> 1))).isOne();
        assertThat(seen).isEmpty();
    }

    private static Runnable throwing(Throwable thrown) {
        return () -> {
            if (thrown instanceof Error error) {
                throw error;
            }
            throw (RuntimeException) thrown;
        };
    }
}
