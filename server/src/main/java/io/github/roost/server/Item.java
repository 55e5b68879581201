package io.github.roost.server;

/**
 * The words of a row.
 *
 * @param key the text that is its id in the file it comes from; empty if that is a number
 * @param name its name, by which requests can refer to it
 * @param text its description, a sentence; may be empty
 * @param attributes the attributes by which it can be filtered
 */
record Item(String key, String name, String text, RowAttributes attributes) {
    /** The words of a row without any. */
    static final Item NONE = new Item("", "");

    /** The words of a row whose id is a number, without attributes. */
    Item(String name, String text) {
        this("", name, text, RowAttributes.NONE);
    }

    Item withKey(String other) {
        return new Item(other, name, text, attributes);
    }
}
