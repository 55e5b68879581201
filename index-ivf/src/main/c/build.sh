#!/bin/sh
# Builds the native library into $1, or says why not: without it the same scans run in Java.
out=$1
cd "$(dirname "$0")" || exit 1
if ! command -v "${CC:-cc}" >/dev/null || ! command -v make >/dev/null; then
    echo "no C compiler or make: the IVF kernel is left out, scans will run in Java (apt-get install gcc libc6-dev make)" >&2
    exit 0
fi
exec make -s OUT="$out"
