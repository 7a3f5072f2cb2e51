#!/bin/bash
# Builds the programs with each linker and records them with perf: OUT (a folder) gets
# symfs/ and linkage/NAME.MODE.data. It needs bfd, gold, lld and mold.
set -eu
out=${1:?usage: make.sh OUT}
src=$(cd "$(dirname "$0")" && pwd)
bin=/tmp/linkage
rm -rf "$bin"
mkdir -p "$bin" "$out/linkage" "$out/symfs$bin"
cd "$bin"
gcc -O1 -fomit-frame-pointer -fPIC -shared "$src/tiny.c" -o libtiny.so
build() { # NAME SOURCE LINKER FLAGS...
	local name=$1 source=$2 linker=$3
	shift 3
	local library=(-L. -ltiny -Wl,-rpath,"$bin")
	[ "$source" = calls ] || library=()
	local million=1000000
	case $name in *retpoline*) million=100000 ;; esac
	gcc -O1 -DMILLION=$million -fno-omit-frame-pointer -fuse-ld="$linker" "$@" "$src/$source.c" -o "$name.fp" "${library[@]}" 2>/dev/null
	gcc -O1 -DMILLION=$million -fomit-frame-pointer -fuse-ld="$linker" "$@" "$src/$source.c" -o "$name.dwarf" "${library[@]}" 2>/dev/null
}
for linker in bfd gold lld mold; do
	build $linker.lazy calls $linker -no-pie -Wl,-z,lazy
	build $linker.now calls $linker -pie -fPIE -Wl,-z,now
	build $linker.static chosen $linker -static -no-pie -nostdlib
	build $linker.noplt calls $linker -pie -fPIE -fno-plt
done
build bfd.ibt calls bfd -fcf-protection=full -no-pie -Wl,-z,lazy,-z,ibtplt
build bfd.ibtnow calls bfd -fcf-protection=full -pie -fPIE -Wl,-z,now,-z,ibtplt
build lld.ibt calls lld -fcf-protection=full -no-pie -Wl,-z,lazy,-z,force-ibt
build lld.retpoline calls lld -no-pie -Wl,-z,lazy,-z,retpolineplt
build lld.retpolinenow calls lld -pie -fPIE -Wl,-z,now,-z,retpolineplt
for program in *.fp *.dwarf; do
	graph="--call-graph fp"
	[ "${program##*.}" = fp ] || graph="--call-graph dwarf,512"
	perf record -q -N -e cpu-clock:u -F 1500 $graph -o "$out/linkage/$program.data" "./$program"
done
cp libtiny.so *.fp *.dwarf "$out/symfs$bin/"
