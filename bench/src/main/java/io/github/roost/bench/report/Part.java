package io.github.roost.bench.report;

import java.util.Arrays;
import java.util.List;

/**
 * One command of a run. A word {@code NAME.json} is the file that the part of this name has left.
 *
 * @param name in files and in the template of the report
 * @param command words after {@code ./roost}
 * @param minutes that it takes on two cores, about
 */
public record Part(String name, List<String> command, double minutes) {
    public Part {
        command = List.copyOf(command);
    }

    static Part of(String name, double minutes, String command) {
        return new Part(name, Arrays.asList(command.split(" ", -1)), minutes);
    }

    /** What a person types. */
    public String line() {
        return "./roost " + String.join(" ", command);
    }

    /** Whether the command writes its JSON to a file that it is given; else it prints JSON when it is asked to. */
    public boolean writesFile() {
        return command.getFirst().equals("sim");
    }

    /** The same without what stands beside Roost from elsewhere. */
    Part withoutPeers() {
        boolean has = command.size() > 1 && List.of("rivals", "ivf").contains(command.get(1));
        return has && !command.contains("--peer")
                ? of(name, minutes, String.join(" ", command) + " --peer none")
                : this;
    }
}
