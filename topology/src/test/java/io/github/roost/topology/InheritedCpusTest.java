package io.github.roost.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.roost.topology.system.InheritedCpus;
import io.github.roost.topology.system.ProcessCpus;
import io.github.roost.topology.system.ThreadPlacement;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
class InheritedCpusTest {
    private final Topology live = TopologyReader.live().read();
    private final Core core = live.cores().findFirst().orElseThrow();
    private final Host pinned = new Host("pinned");
    private final Host before = new Host("before");

    @BeforeEach
    void isPinned() throws Exception {
        assumeThat(ProcessCpus.count()).isGreaterThan(core.pus().size());
        pinned.run(() -> Pinner.of(live).pin(core));
        before.run(() -> 0);
    }

    @AfterEach
    void end() {
        pinned.close();
        before.close();
    }

    private InheritedCpus threads() {
        return InheritedCpus.of(live).orElseThrow();
    }

    @Test
    void aThreadThatAPinnedOneStartsGetsAllCpusOnce() throws Exception {
        InheritedCpus threads = threads();
        try (Host child = pinned.run(() -> new Host("child"))) {
            assertThat(child.run(InheritedCpusTest::allowedCpus)).isEqualTo(core.pus());
            assertThat(threads.restore()).isEqualTo(1);
            assertThat(child.run(InheritedCpusTest::allowedCpus)).hasSize(ProcessCpus.count());
            assertThat(threads.restore()).isZero();
        }
        assertThat(pinned.run(InheritedCpusTest::allowedCpus)).isEqualTo(core.pus());
    }

    @Test
    void threadsThatArePinnedOnPurposeStayPinned() throws Exception {
        InheritedCpus threads = threads();
        before.run(() -> Pinner.of(live).pin(core));
        try (Host worker = pinned.run(() -> new Host("any name"))) {
            worker.run(() -> Pinner.of(live).pin(core));
            assertThat(worker.run(InheritedCpusTest::allowedCpus)).isEqualTo(core.pus());
            assertThat(threads.restore()).isZero();
            assertThat(worker.run(InheritedCpusTest::allowedCpus)).isEqualTo(core.pus());
        }
        assertThat(before.run(InheritedCpusTest::allowedCpus)).isEqualTo(core.pus());
    }

    /** The kernel keeps 15 bytes of a name, which may end within a character. */
    @Test
    void aThreadWhoseNameIsCutWithinACharacterIsSeen() throws Exception {
        InheritedCpus threads = threads();
        try (Host child = pinned.run(() -> new Host("\u041e\u0431\u0440\u0430\u0431\u043e\u0442\u043a\u0430"))) {
            child.run(() -> 0);
            assertThat(threads.restore()).isEqualTo(1);
            assertThat(child.run(InheritedCpusTest::allowedCpus)).hasSize(ProcessCpus.count());
        }
    }

    @Test
    void aDescribedMachineHasNoThreads() {
        Topology described = TopologyReader.synthetic("pack:1 core:1 pu:1").read();
        assertThat(InheritedCpus.of(described)).isEmpty();
    }

    private static List<Integer> allowedCpus() {
        return ThreadPlacement.current().orElseThrow().allowedCpus();
    }

    /** A thread that runs what it is given. */
    private static final class Host implements AutoCloseable {
        private final BlockingQueue<FutureTask<?>> tasks = new ArrayBlockingQueue<>(1);
        private final Thread thread;

        Host(String name) {
            thread = Thread.ofPlatform().daemon().name(name).start(() -> {
                try {
                    while (true) {
                        tasks.take().run();
                    }
                } catch (InterruptedException end) {
                    // The test is over.
                }
            });
        }

        <T> T run(Callable<T> work) throws Exception {
            FutureTask<T> task = new FutureTask<>(work);
            tasks.put(task);
            return task.get();
        }

        @Override
        public void close() {
            thread.interrupt();
        }
    }
}
