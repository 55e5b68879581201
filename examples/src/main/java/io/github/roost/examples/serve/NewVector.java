package io.github.roost.examples.serve;

/**
 * A row to put into a table.
 *
 * @param id its id
 * @param item what it stands for
 * @param vector its row, not copied
 */
record NewVector(long id, Item item, float[] vector) {}
