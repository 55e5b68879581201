package io.github.roost.cli;

import io.github.roost.affinity.CpuReservation;
import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.simulator.options.Options;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import io.github.roost.topology.system.ProcessCpus;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** {@code --reserve-cores} of a command that searches until its process ends. */
final class ReserveCoresOption {
    private static final String DOMAIN = "domain";

    @Option(
            names = "--reserve-cores",
            paramLabel = "N|domain",
            description =
                    "Reserve N cores, or all cores of one cache domain, and run on these alone. Processes that reserve"
                            + " cores share none; if too few are free, nothing starts.")
    private @Nullable String cores;

    /**
     * Reserves the cores that the option asks for, if it is given, and keeps this process, its threads and its children on them. They are
     * reserved until the process ends.
     *
     * @param simulated the description of a simulated machine, whose cores cannot be reserved; null for the real machine
     */
    void reserve(@Nullable String simulated) {
        if (cores == null) {
            return;
        }
        if (simulated != null) {
            throw new CommandFailure("--reserve-cores or --topology may be given, got both");
        }
        Topology machine = TopologyReader.live().withinQuota(false).read();
        CpuReservation reserved =
                cores.equals(DOMAIN) ? CpuReservation.ofDomain(machine) : CpuReservation.of(machine, count(cores));
        ProcessCpus.confineTo(reserved.topology().machine().usablePus());
    }

    private static int count(String text) {
        try {
            int count = Integer.parseInt(text);
            Options.require("--reserve-cores", count, 1, Integer.MAX_VALUE);
            return count;
        } catch (NumberFormatException notANumber) {
            throw new CommandFailure("--reserve-cores must be a number of cores or \"domain\", got " + text);
        }
    }
}
