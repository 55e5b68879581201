package io.github.roost.bench.report;

import java.util.Arrays;
import java.util.List;

/**
 * One command of a run. An argument {@code NAME.json} stands for the file that the part of that name wrote.
 *
 * @param name in files and in the template of the report
 * @param command words after {@code ./roost}
 * @param minutes approximate duration on two cores
 */
public record RunPart(String name, List<String> command, double minutes) {
    public RunPart {
        command = List.copyOf(command);
    }

    static RunPart of(String name, double minutes, String command) {
        return new RunPart(name, Arrays.asList(command.split(" ", -1)), minutes);
    }

    /** The command line. */
    public String line() {
        return "./roost " + String.join(" ", command);
    }

    /** Whether the command always writes its JSON to a file; the other commands print JSON on request. */
    public boolean writesFile() {
        return command.getFirst().equals("sim");
    }

    /** Returns the same part without third-party peers. */
    RunPart withoutPeers() {
        boolean has = command.size() > 1 && List.of("rivals", "ivf").contains(command.get(1));
        return has && !command.contains("--peer")
                ? of(name, minutes, String.join(" ", command) + " --peer none")
                : this;
    }
}
