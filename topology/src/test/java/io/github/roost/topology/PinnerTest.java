package io.github.roost.topology;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.topology.system.ProcessCpus;
import io.github.roost.topology.system.ProcessMaskThreadFactory;
import io.github.roost.topology.system.ThreadPlacement;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
class PinnerTest {
    private final Topology live = TopologyReader.live().read();

    @Test
    void theKernelSaysThatAPinnedThreadIsPinned() throws Exception {
        for (Core core : live.cores().toList()) {
            inThread(() -> {
                Pinner.Result result = Pinner.of(live).pin(core);
                assertThat(result).isEqualTo(new Pinner.Result(core.pus(), core.pus(), result.lastCpu(), true, ""));
                assertThat(core.pus()).contains(result.lastCpu());
                ThreadPlacement placement = ThreadPlacement.current().orElseThrow();
                assertThat(placement.allowedCpus()).isEqualTo(core.pus());
                assertThat(ThreadPlacement.of(placement.tid())).get().isEqualTo(placement);
                return placement;
            });
        }
    }

    @Test
    void aCoreThatDoesNotExistLeavesTheThreadAsItWasAndSaysSo() throws Exception {
        Pinner.Result result = inThread(() -> Pinner.of(live).pin(new Core(0, -1, List.of(8_000))));
        assertThat(result.pinned()).isFalse();
        assertThat(result.reason()).contains("CPUs 8000 are not among the CPUs of this process");
        assertThat(result.got()).hasSize(Runtime.getRuntime().availableProcessors());
    }

    @Test
    void aDescribedMachineIsNotPinnedTo() throws Exception {
        Topology described = TopologyReader.synthetic("pack:1 core:1 pu:1").read();
        Pinner.Result result = inThread(() -> Pinner.of(described).pin(new Core(0, -1, List.of(0))));
        assertThat(result.pinned()).isFalse();
        assertThat(result.got()).hasSize(Runtime.getRuntime().availableProcessors());
    }

    @Test
    void pretendDomainsArePinnedTo() throws Exception {
        Topology pretend = TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1")
                .onThisSystem(true)
                .read();
        assertThat(inThread(() -> Pinner.of(pretend).pin(new Core(0, -1, List.of(0))))
                        .pinned())
                .isTrue();
    }

    @Test
    void aVirtualThreadIsRefusedAndItsCarrierStaysUnbound() throws Exception {
        FutureTask<Pinner.Result> task = new FutureTask<>(() -> Pinner.of(live).pin(new Core(0, -1, List.of(0))));
        Thread.ofVirtual().start(task);
        assertThat(task.get().pinned()).isFalse();
        assertThat(task.get().reason()).contains("virtual thread");
        assertThat(task.get().got()).hasSize(Runtime.getRuntime().availableProcessors());
    }

    @Test
    void aThreadOfTheProcessMaskFactoryDoesNotInheritItsStartersCore() throws Exception {
        Core core = live.cores().findFirst().orElseThrow();
        int inherited = inThread(() -> {
            Pinner.of(live).pin(core);
            return inThread(Thread.ofPlatform().factory(), PinnerTest::allowedCpus);
        });
        int restored = inThread(() -> {
            Pinner.of(live).pin(core);
            return inThread(new ProcessMaskThreadFactory(Thread.ofPlatform().factory()), PinnerTest::allowedCpus);
        });
        assertThat(inherited).isEqualTo(core.pus().size());
        assertThat(restored).isEqualTo(Runtime.getRuntime().availableProcessors());
    }

    @Test
    void theProcessHasAllItsCpusOnAPinnedThreadToo() throws Exception {
        int all = inThread(PinnerTest::allowedCpus);
        Core core = live.cores().findFirst().orElseThrow();
        int onAPinnedThread = inThread(() -> {
            Pinner.of(live).pin(core);
            return ProcessCpus.count();
        });
        assertThat(onAPinnedThread).isEqualTo(all).isEqualTo(ProcessCpus.count());
    }

    private static int allowedCpus() {
        return ThreadPlacement.current().orElseThrow().allowedCpus().size();
    }

    private static <T> T inThread(Callable<T> work) throws Exception {
        return inThread(Thread.ofPlatform().factory(), work);
    }

    private static <T> T inThread(ThreadFactory factory, Callable<T> work) throws Exception {
        FutureTask<T> task = new FutureTask<>(work);
        factory.newThread(task).start();
        return task.get();
    }
}
