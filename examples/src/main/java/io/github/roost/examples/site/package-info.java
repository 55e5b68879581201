/** The documentation as a site to browse: guides and Javadoc. */
@NullMarked
package io.github.roost.examples.site;

import org.jspecify.annotations.NullMarked;
