#!/bin/sh
# Builds the programs and records them with perf: OUT (a folder) gets symfs/ and
# callers/NAME.MODE.data.
set -eu
out=${1:?usage: make.sh OUT}
src=$(cd "$(dirname "$0")" && pwd)
bin=/tmp/callers
mkdir -p "$bin" "$out/callers" "$out/symfs$bin"
cd "$bin"
frames="-g -fno-omit-frame-pointer"
gcc -O1 $frames -fPIC -shared "$src/tiny.c" -o libtiny.so
leaves() { # NAME COMPILER FLAGS...
	name=$1 cc=$2
	shift 2
	$cc "$@" $frames "$src/leaves.c" -o "$name" -L. -ltiny -Wl,-rpath,"$bin"
}
leaves lazy gcc -O2 -Wl,-z,lazy
leaves sec gcc -O2 -fcf-protection=full -Wl,-z,ibtplt
leaves now gcc -O1 -Wl,-z,now
leaves plain gcc -O0
leaves clang clang -O2
gcc -O2 $frames "$src/parts.c" "$src/partsmain.c" -o parts_gcc
clang -O2 $frames -mllvm -hot-cold-split=true -mllvm -hotcoldsplit-threshold=-1 "$src/parts.c" "$src/partsmain.c" -o parts_clang
gcc -O1 $frames "$src/spawn.c" -o spawn
record() { # NAME MODE ARGS...
	name=$1 mode=$2
	shift 2
	case $mode in
	fp) graph="--call-graph fp" ;;
	dwarf) graph="--call-graph dwarf,1024" ;;
	none) graph= ;;
	esac
	perf record -q -N -e cpu-clock:u -F 2000 $graph -o "$out/callers/$name.$mode.data" "./$name" "$@"
}
for mode in fp dwarf none; do
	for p in lazy sec now plain clang; do record $p $mode 400000; done
	record spawn $mode 4000000
	for p in parts_gcc parts_clang; do record $p $mode 400; done
done
cp libtiny.so lazy sec now plain clang parts_gcc parts_clang spawn "$out/symfs$bin/"
