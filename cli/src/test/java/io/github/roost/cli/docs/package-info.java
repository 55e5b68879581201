/** Tests of what README.md and docs show. */
@NullMarked
package io.github.roost.cli.docs;

import org.jspecify.annotations.NullMarked;
