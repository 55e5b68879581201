/** Tables of jvector graphs, searched by jvector on Roost's workers. */
@NullMarked
package io.github.roost.index.jvector;

import org.jspecify.annotations.NullMarked;
