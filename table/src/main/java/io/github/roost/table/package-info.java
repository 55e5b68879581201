/** Hash tables from long keys to payloads, and versioned tables of rows built on them. */
@NullMarked
package io.github.roost.table;

import org.jspecify.annotations.NullMarked;
