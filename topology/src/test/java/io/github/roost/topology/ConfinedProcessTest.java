package io.github.roost.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.testkit.ChildJvm;
import io.github.roost.topology.system.CpuSet;
import io.github.roost.topology.system.ProcessCpus;
import io.github.roost.topology.system.ThreadPlacement;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@Tag("program")
@EnabledOnOs(OS.LINUX)
class ConfinedProcessTest {
    private final Topology live = TopologyReader.live().read();
    private final Core last = live.cores().toList().getLast();

    @Test
    void everyThreadAndChildStaysOnTheCpus() throws Exception {
        String cpus = CpuSet.text(last.pus());
        assertThat(new ChildJvm(ConfiningProbe.class).run())
                .containsExactly(
                        "threads on " + cpus, "a new thread on " + cpus, "a child on " + cpus, "cores " + last.pus());
    }

    @Test
    void onlyCpusOfTheProcessAreAccepted() {
        assertThatThrownBy(() -> ProcessCpus.confineTo(List.of(4_000)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("got 4000");
        assertThatThrownBy(() -> ProcessCpus.confineTo(List.of())).hasMessageContaining("got none");
    }

    /** Keeps itself on the last core, and prints where its threads and a child may run. */
    static final class ConfiningProbe {
        private ConfiningProbe() {}

        public static void main(String[] args) throws Exception {
            Core last = TopologyReader.live().read().cores().toList().getLast();
            ProcessCpus.confineTo(last.pus());
            BitSet all = new BitSet();
            for (int thread : ProcessCpus.threads()) {
                ThreadPlacement.of(thread)
                        .ifPresent(placement -> placement.allowedCpus().forEach(all::set));
            }
            System.out.println("threads on " + CpuSet.text(all));
            FutureTask<String> fresh = new FutureTask<>(
                    () -> CpuSet.text(ThreadPlacement.current().orElseThrow().allowedCpus()));
            Thread.ofPlatform().start(fresh);
            System.out.println("a new thread on " + fresh.get());
            Process child = new ProcessBuilder("grep", "Cpus_allowed_list", "/proc/self/status").start();
            System.out.println("a child on " + child.inputReader().readLine().replaceAll(".*\\s", ""));
            System.out.println("cores "
                    + TopologyReader.live()
                            .read()
                            .cores()
                            .flatMap(core -> core.pus().stream())
                            .toList());
        }
    }
}
