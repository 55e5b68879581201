package io.github.roost.server;

/**
 * The words of a row.
 *
 * @param name its name, by which requests can refer to it
 * @param text its description, a sentence; may be empty
 */
record Item(String name, String text) {
    /** The words of a row without any. */
    static final Item NONE = new Item("", "");
}
