#!/bin/sh
# Builds the program without call frame information and records it with perf: OUT (a
# folder) gets symfs/ and returns/MODE.data.
set -eu
out=${1:?usage: make.sh OUT}
src=$(cd "$(dirname "$0")" && pwd)
bin=/tmp/returns
mkdir -p "$bin" "$out/returns" "$out/symfs$bin"
cd "$bin"
gcc -O1 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables "$src/returns.c" -o returns
perf record -q -N -e cpu-clock:u -F 2000 --call-graph fp -o "$out/returns/fp.data" ./returns 60000000
perf record -q -N -e cpu-clock:u -F 1000 --call-graph dwarf,512 -o "$out/returns/dwarf.data" ./returns 60000000
cp returns "$out/symfs$bin/"
