package io.github.roost.affinity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.roost.testkit.ChildJvm;
import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Core;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@Tag("program")
@EnabledOnOs(OS.LINUX)
class CpuReservationTest {
    @TempDir
    private Path locks;

    private final List<Core> cores = TopologyReader.live().read().cores().toList();
    private final String all = Integer.toString(cores.size());

    @Test
    void twoProcessesNeverShareACore() throws Exception {
        Process holder = child().start("hold", "1");
        try (BufferedReader holding = holder.inputReader()) {
            assertThat(holding.readLine()).startsWith("reserved ");
            assertThat(child().run("end", all))
                    .containsExactly("cannot reserve " + all
                            + (cores.size() == 1 ? " core" : " cores") + ": of the " + all
                            + " that this process may use, "
                            + (cores.size() - 1) + " are free (lock files in " + locks + ")");
            holder.outputWriter().append('\n').flush();
            assertThat(holder.waitFor()).isZero();
            assertThat(child().run("end", all))
                    .containsExactly("reserved " + cores.stream().map(Core::pus).toList());
        } finally {
            holder.destroyForcibly();
        }
    }

    @Test
    void theLocksOfAKilledProcessAreTakenOver() throws Exception {
        Process holder = child().start("hold", all);
        try (BufferedReader holding = holder.inputReader()) {
            String reserved = holding.readLine();
            assertThat(child().run("end", "domain")).singleElement().asString().contains(", 0 have all ");
            holder.destroyForcibly().waitFor();
            assertThat(locks.resolve("cpu-" + cores.getFirst().pus().getFirst() + ".lock"))
                    .exists();
            assertThat(child().run("end", all)).containsExactly(reserved);
        }
    }

    @Test
    void ofProcessesThatReserveAtOnceOneGetsTheCore() throws Exception {
        List<Process> rivals = new ArrayList<>();
        try {
            for (int i = 0; i < 3; i++) {
                rivals.add(child().start("race", locks.resolve("held").toString()));
            }
            for (Process rival : rivals) {
                assertThat(rival.inputReader().readLine()).isEqualTo("ready");
            }
            for (Process rival : rivals) {
                rival.outputWriter().append('\n').flush();
            }
            for (Process rival : rivals) {
                assertThat(rival.inputReader().lines().toList())
                        .singleElement()
                        .asString()
                        .startsWith("never shared, ");
            }
        } finally {
            rivals.forEach(Process::destroyForcibly);
        }
    }

    @Test
    void aFolderThatCannotBeWrittenIsNamed() throws Exception {
        Path missing = locks.resolve("missing/folder");
        // As any user, root too: a file is no folder.
        Files.createFile(locks.resolve("missing"));
        assertThat(child().with("-Djava.io.tmpdir=" + missing).run("end", "1"))
                .last()
                .asString()
                .startsWith("no core can be reserved: a lock file cannot be written: ")
                .contains(missing + "/roost-cores.lock");
    }

    @Test
    void otherUsersMayReserveToo() throws Exception {
        child().under("sh", "-c", "umask 077; exec \"$@\"", "sh").run("end", "1");
        assertThat(Files.getPosixFilePermissions(locks.resolve("roost-cores.lock")))
                .isEqualTo(PosixFilePermissions.fromString("rw-rw-rw-"));
    }

    @Test
    void whatTheMaskExcludesIsNotReserved() throws Exception {
        assumeThat(cores).hasSizeGreaterThan(1);
        Core last = cores.getLast();
        assertThat(child().under("taskset", "-c", last.pus().getFirst().toString())
                        .run("end", "2"))
                .containsExactly(
                        "cannot reserve 2 cores: of the 1 that this process may use, 1 are free (lock files in " + locks
                                + ")");
        assertThat(child().under("taskset", "-c", last.pus().getFirst().toString())
                        .run("end", "domain"))
                .containsExactly("reserved [[" + last.pus().getFirst() + "]]");
    }

    @Test
    void aCoreReservedTwiceInOneProcessIsNotFreeBeforeItIsReleased() throws Exception {
        assertThat(child().run("twice"))
                .containsExactly(
                        "second: cannot reserve 1 core: of the 1 that this process may use, 0 are free", "third: [0]");
    }

    @Test
    void anInterruptedThreadReservesAndReleases() throws Exception {
        assertThat(child().run("interrupted")).containsExactly("interrupted: true", "third: [0]");
    }

    @Test
    void reservingLoadsNoNativeCode() throws Exception {
        List<String> loaded = child().with("-verbose:class").run("end", "1");
        assertThat(loaded)
                .anyMatch(line -> line.contains("net.openhft.affinity"))
                .noneMatch(line -> line.contains("com.sun.jna"));
    }

    @Test
    void onlyCoresOfThisMachineCanBeReserved() {
        Topology made = TopologyReader.synthetic("pack:1 core:2 pu:1")
                .onThisSystem(true)
                .read();
        assertThatThrownBy(() -> CpuReservation.of(made, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("got synthetic:pack:1");
        assertThatThrownBy(() -> CpuReservation.ofDomain(made)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> CpuReservation.of(made, 0)).hasMessageContaining("1 or more, got 0");
    }

    private ChildJvm child() {
        return new ChildJvm(ReservingProbe.class).with("-Djava.io.tmpdir=" + locks);
    }

    /** Reserves some cores or a domain; ends at once, or when a line comes in. */
    static final class ReservingProbe {
        private ReservingProbe() {}

        public static void main(String[] args) throws Exception {
            switch (args[0]) {
                case "twice" -> reserveTwice();
                case "interrupted" -> reserveInterrupted();
                case "race" -> race(Path.of(args[1]));
                default -> reserve(args[1], args[0].equals("hold"));
            }
        }

        private static void reserve(String what, boolean hold) throws Exception {
            Topology live = TopologyReader.live().read();
            try (CpuReservation reservation = what.equals("domain")
                    ? CpuReservation.ofDomain(live)
                    : CpuReservation.of(live, Integer.parseInt(what))) {
                System.out.println("reserved "
                        + reservation.topology().cores().map(Core::pus).toList());
                if (hold) {
                    int ignored = System.in.read();
                }
            } catch (CpuReservation.RefusedException refused) {
                System.out.println(refused.getMessage());
            }
        }

        /** Reserves and releases one core again and again; whoever has it has also made a file. */
        private static void race(Path file) throws IOException {
            Topology topology = oneCore();
            System.out.println("ready");
            int go = System.in.read();
            int times = 0;
            for (int round = 0; go >= 0 && round < 1_000; round++) {
                try (CpuReservation held = CpuReservation.of(topology, 1)) {
                    Files.createFile(file);
                    Files.delete(file);
                    times += held.topology().domains().size();
                } catch (CpuReservation.RefusedException notFree) {
                    assertThat(notFree).hasMessageContaining(" 0 are free");
                } catch (FileAlreadyExistsException shared) {
                    System.out.println("shared with another process");
                    return;
                }
            }
            System.out.println("never shared, " + times + " times reserved");
        }

        private static Topology oneCore() {
            CacheDomain one = new CacheDomain(0, 0, List.of(), 0, List.of(new Core(0, -1, List.of(0))));
            return new Topology("live", DomainLevel.PACKAGE, true, List.of(one));
        }

        private static void reserveTwice() {
            Topology topology = oneCore();
            try (CpuReservation first = CpuReservation.of(topology, 1);
                    CpuReservation second = CpuReservation.of(topology, 1)) {
                System.out.println("both: " + first.topology() + second.topology());
            } catch (CpuReservation.RefusedException noneFree) {
                String message = String.valueOf(noneFree.getMessage());
                System.out.println("second: " + message.substring(0, message.indexOf(" (")));
            }
            reserveAgain(topology);
        }

        private static void reserveInterrupted() {
            Topology topology = oneCore();
            Thread.currentThread().interrupt();
            CpuReservation.of(topology, 1).close();
            System.out.println("interrupted: " + Thread.interrupted());
            reserveAgain(topology);
        }

        private static void reserveAgain(Topology topology) {
            try (CpuReservation third = CpuReservation.of(topology, 1)) {
                System.out.println("third: " + third.topology().machine().usablePus());
            }
        }
    }
}
