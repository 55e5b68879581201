package io.github.roost.server;

import org.jspecify.annotations.Nullable;

/**
 * A row to put into a table.
 *
 * @param id its id; null for the row with the item's key
 * @param item its words
 * @param vector its vector, not copied
 */
record NewVector(@Nullable Long id, Item item, float[] vector) {}
