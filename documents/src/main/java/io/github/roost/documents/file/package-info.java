/** The file in which documents and vectors are kept. */
@NullMarked
package io.github.roost.documents.file;

import org.jspecify.annotations.NullMarked;
