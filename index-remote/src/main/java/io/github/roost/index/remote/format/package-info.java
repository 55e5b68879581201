/** The bytes of a pool: head, directory, images of partitions, records of their logs, and the words that writers replace. */
@NullMarked
package io.github.roost.index.remote.format;

import org.jspecify.annotations.NullMarked;
