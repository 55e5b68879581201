package io.github.roost.bench.cachesim;

import java.nio.file.Path;
import java.util.List;

/**
 * What a {@link Guest} does, as the words of its command line.
 *
 * @param folder of {@link SavedTables}
 * @param policy name of a policy of the simulator, or {@link #FORK_JOIN}
 * @param domains of the machine
 * @param workers per domain
 * @param l3Bytes of a domain, for the policies that ask for it
 * @param warmUp searches before counting
 * @param searches that are counted
 * @param inFlight searches in flight
 * @param gateMicros age from which a task may cross domains under Roost's own gate, by the guest's clock
 * @param windowMillis short window of the mapper, by the guest's clock
 */
record GuestRun(
        Path folder,
        String policy,
        int domains,
        int workers,
        long l3Bytes,
        int warmUp,
        int searches,
        int inFlight,
        int gateMicros,
        int windowMillis) {
    /** The JDK's pool, one thread per worker. */
    static final String FORK_JOIN = "forkjoin";

    static GuestRun of(String... words) {
        return new GuestRun(
                Path.of(words[0]),
                words[1],
                Integer.parseInt(words[2]),
                Integer.parseInt(words[3]),
                Long.parseLong(words[4]),
                Integer.parseInt(words[5]),
                Integer.parseInt(words[6]),
                Integer.parseInt(words[7]),
                Integer.parseInt(words[8]),
                Integer.parseInt(words[9]));
    }

    GuestRun ofSearches(int before, int counted) {
        return new GuestRun(
                folder, policy, domains, workers, l3Bytes, before, counted, inFlight, gateMicros, windowMillis);
    }

    List<String> words() {
        return List.of(
                folder.toString(),
                policy,
                Integer.toString(domains),
                Integer.toString(workers),
                Long.toString(l3Bytes),
                Integer.toString(warmUp),
                Integer.toString(searches),
                Integer.toString(inFlight),
                Integer.toString(gateMicros),
                Integer.toString(windowMillis));
    }
}
