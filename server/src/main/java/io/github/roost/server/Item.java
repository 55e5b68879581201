package io.github.roost.server;

import java.util.regex.Pattern;

/**
 * The words of a row.
 *
 * @param key the text that is its id in the file it comes from; empty if that is a number
 * @param name its name, by which requests can refer to it
 * @param text its description, a sentence; may be empty
 * @param attributes the attributes by which it can be filtered
 */
record Item(String key, String name, String text, RowAttributes attributes) {
    private static final Pattern NO_END_OF_PATH = Pattern.compile("\\.\\.?|(?s:.*\\R.*)");

    /** The words of a row without any. */
    static final Item NONE = new Item("", "");

    /** The words of a row whose id is a number, without attributes. */
    Item(String name, String text) {
        this("", name, text, RowAttributes.NONE);
    }

    /** Whether a path, which leads to the row, can end with a key: a route's pattern ends at the end of a line. */
    static boolean canEndPath(String key) {
        return !NO_END_OF_PATH.matcher(key).matches()
                && key.codePoints().noneMatch(point -> Character.getType(point) == Character.SURROGATE);
    }

    Item withKey(String other) {
        return new Item(other, name, text, attributes);
    }
}
