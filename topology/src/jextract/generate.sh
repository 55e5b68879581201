#!/bin/sh
# Generates bindings from the installed hwloc.h for the symbols of symbols.txt, for JextractBindingsTest to compare with
# the hand-written ones. Usage: generate.sh OUTPUT_DIRECTORY
set -eu
here=$(dirname "$0")
rm -rf "$1"
if ! command -v jextract >/dev/null; then
    echo "jextract: skipped, there is none on the PATH"
    exit 0
fi
mkdir -p "$1"
printf '#include <hwloc.h>\n#include <hwloc/cpukinds.h>\n' >"$1/hwloc_all.h"
jextract --output "$1" --target-package hwloc.generated --header-class-name Hwloc --library hwloc "@$here/symbols.txt" "$1/hwloc_all.h"
