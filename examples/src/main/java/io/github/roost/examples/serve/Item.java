package io.github.roost.examples.serve;

/**
 * What a row of a table stands for, in words.
 *
 * @param name what it is called; rows can be asked for by it
 * @param text what it is, in a sentence; may be empty
 */
record Item(String name, String text) {
    /** Of a row without words. */
    static final Item NONE = new Item("", "");
}
