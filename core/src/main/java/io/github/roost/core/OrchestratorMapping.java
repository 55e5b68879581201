package io.github.roost.core;

import io.github.roost.core.mapping.Mapping;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A snapshot of the mapping in force, by the names of the tables. The names of its components are the keys of its JSON form.
 *
 * @param epoch the number of the mapping; increases by one per published mapping
 * @param domains number of cache domains
 * @param tables one entry per registered table, sorted by name
 */
public record OrchestratorMapping(long epoch, int domains, List<TableHomes> tables) {
    /**
     * The homes of one table.
     *
     * @param name the table's name
     * @param homes the ids of the home domains of each mapping id of the table; an id with more traffic than a domain's fair share has
     *     several homes
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
                .filter(table -> table.firstSlot() + table.size() <= mapping.slots())
                .map(table -> new TableHomes(
                        table.name(),
                        IntStream.range(0, table.size())
                                .mapToObj(index -> homes(mapping, table.firstSlot() + index))
                                .toList()))
                .sorted(Comparator.comparing(TableHomes::name))
                .toList();
        return new OrchestratorMapping(mapping.epoch(), mapping.domains(), tables);
    }

    static List<Integer> homes(Mapping mapping, int slot) {
        return Arrays.stream(mapping.homes(slot)).boxed().toList();
    }
}
