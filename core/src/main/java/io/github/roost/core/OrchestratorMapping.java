package io.github.roost.core;

import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.task.Registration;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The mapping in force at one moment, by the names of the tables. Its components and their names are its JSON form.
 *
 * @param epoch its number; each published mapping has one more than the one before
 * @param domains number of cache domains
 * @param tables one entry per registered table, by name
 */
public record OrchestratorMapping(long epoch, int domains, List<TableHomes> tables) {
    /**
     * Where one table lives.
     *
     * @param name its name
     * @param homes for each of its clusters, or for the table as a whole where it has none, the ids of its home domains;
     *     an item hotter than a domain's fair share has several
     */
    public record TableHomes(String name, List<List<Integer>> homes) {
        /** Copies the homes. */
        public TableHomes {
            homes = homes.stream().map(List::copyOf).toList();
        }
    }

    /** Copies the tables. */
    public OrchestratorMapping {
        tables = List.copyOf(tables);
    }

    static OrchestratorMapping of(Mapping mapping, Collection<Registration> registrations) {
        List<TableHomes> tables = registrations.stream()
                .filter(table -> table.firstSlot() + table.clusters() <= mapping.slots())
                .map(table -> new TableHomes(
                        table.name(),
                        IntStream.range(0, table.clusters())
                                .mapToObj(cluster -> homes(mapping, table.firstSlot() + cluster))
                                .toList()))
                .sorted(Comparator.comparing(TableHomes::name))
                .toList();
        return new OrchestratorMapping(mapping.epoch(), mapping.domains(), tables);
    }

    static List<Integer> homes(Mapping mapping, int slot) {
        return Arrays.stream(mapping.homes(slot)).boxed().toList();
    }
}
