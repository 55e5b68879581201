package io.github.roost.examples.serve;

import io.github.roost.core.Neighbors;
import io.github.roost.examples.serve.SearchAnswer.Hit;
import io.github.roost.examples.serve.SearchAnswer.Ran;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What a search has found in one table, and what that cost.
 *
 * @param table where it searched
 * @param neighbors the rows, nearest first
 * @param words what the row at a place of these stands for
 * @param ran who searched, and the cost
 */
record Found(ServedTable table, Neighbors neighbors, IntFunction<Optional<Item>> words, Ran ran) {
    Stream<Hit> hits() {
        return IntStream.range(0, neighbors.size()).mapToObj(this::hit);
    }

    private Hit hit(int neighbor) {
        Item item = words.apply(neighbor).orElse(Item.NONE);
        return new Hit(
                table.name(),
                neighbors.ids()[neighbor],
                item.name(),
                item.text(),
                neighbors.distances()[neighbor]);
    }
}
