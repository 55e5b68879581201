/** Builds the documentation as a web site: guides and Javadoc. */
@NullMarked
package io.github.roost.cli.site;

import org.jspecify.annotations.NullMarked;
