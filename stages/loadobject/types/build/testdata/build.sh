#!/bin/sh
# Builds the objects whose types and variables the tests read (GCC 12 made them).
set -e
cd "$(dirname "$0")"
options="-g -fPIC -shared -nostdlib -Wl,--build-id=none -fdebug-prefix-map=$PWD=/src"
gcc $options -gdwarf-5 -O0 -o shapes_dw5.so shapes.c shapes2.c
gcc $options -gdwarf-4 -O2 -o shapes_dw4.so shapes.c shapes2.c
g++ $options -gdwarf-5 -O0 -fno-exceptions -o classes_dw5.so classes.cc classes2.cc
g++ $options -gdwarf-4 -O2 -fno-exceptions -fdebug-types-section -o classes_dw4_types.so classes.cc classes2.cc
gfortran $options -gdwarf-5 -O0 -o areas_dw5.so areas.f90
gfortran $options -gdwarf-3 -O2 -o areas_dw3.so areas.f90
rm -f areas.mod
