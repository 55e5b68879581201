package io.github.roost.vector.file;

import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;

/** Files that only their owner may access. Stateless. */
public final class PrivateFile {
    private PrivateFile() {}

    /**
     * Returns the attributes with which to create a file so that only its owner can read or write it, from its creation
     * on.
     *
     * @param path the path of the file
     * @return the attributes; empty if the file system has no POSIX permissions
     */
    public static FileAttribute<?>[] attributes(Path path) {
        return path.getFileSystem().supportedFileAttributeViews().contains("posix")
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
                }
                : new FileAttribute<?>[] {};
    }
}
