package io.github.roost.server;

/**
 * A row to put into a table.
 *
 * @param id its id
 * @param item its words
 * @param vector its vector, not copied
 */
record NewVector(long id, Item item, float[] vector) {}
