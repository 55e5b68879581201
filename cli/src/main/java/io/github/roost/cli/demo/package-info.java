/** The demo: Debian's packages searched by meaning on pinned workers. */
@NullMarked
package io.github.roost.cli.demo;

import org.jspecify.annotations.NullMarked;
