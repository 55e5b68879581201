/** Hash tables from long keys to payloads, and versioned tables of rows built on them. */
@NullMarked
package io.github.roost.rows;

import org.jspecify.annotations.NullMarked;
