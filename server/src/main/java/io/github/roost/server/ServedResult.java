package io.github.roost.server;

import io.github.roost.server.SearchAnswer.Hit;
import io.github.roost.server.SearchAnswer.Ran;
import io.github.roost.vector.SearchResult;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The result of a search in one table.
 *
 * @param table the searched table
 * @param neighbors the rows, nearest first
 * @param words the words of the neighbor at an index
 * @param ran which worker searched, and the cost
 */
record ServedResult(ServedTable table, SearchResult neighbors, IntFunction<Optional<Item>> words, Ran ran) {
    Stream<Hit> hits() {
        return IntStream.range(0, neighbors.size()).mapToObj(this::hit);
    }

    private Hit hit(int neighbor) {
        Item item = words.apply(neighbor).orElse(Item.NONE);
        return new Hit(
                table.name(),
                neighbors.ids()[neighbor],
                item.key().isEmpty() ? null : item.key(),
                item.name(),
                item.text(),
                neighbors.distances()[neighbor]);
    }
}
