#!/bin/sh
# Builds the objects whose types and variables the tests read (GCC 12 made them).
set -e
cd "$(dirname "$0")"
options="-g -fPIC -shared -nostdlib -Wl,--build-id=none -fdebug-prefix-map=$PWD=/src"
gcc $options -gdwarf-5 -O0 -o shapes_dw5.so shapes.c shapes2.c
gcc $options -gdwarf-4 -O2 -o shapes_dw4.so shapes.c shapes2.c
