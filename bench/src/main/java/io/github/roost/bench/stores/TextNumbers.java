package io.github.roost.bench.stores;

/** The numbers of texts in their ids. Stateless. */
final class TextNumbers {
    private TextNumbers() {}

    static int of(String id) {
        return Integer.parseInt(id, id.indexOf('-') + 1, id.length(), 10);
    }
}
