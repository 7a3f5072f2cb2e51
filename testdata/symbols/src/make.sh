#!/bin/bash
# make.sh: builds the programs in this folder, records them and packs what tests
# need into ../recordings.tar.gz. It wants gcc, g++, clang with libomp, binutils for
# AArch64, perf, gprofng and a JDK.
set -euo pipefail
src=$(realpath "$(dirname "$0")"); out=$src/..; stages=$src/../../../stages/symbolize
root=/tmp/symbols; bin=$root/bin; rm -rf $root; mkdir -p $bin $root/{exp,perf,maps,debug,nobuildid}; cd $root
export OMP_NUM_THREADS=2
common="-g -w -ffile-prefix-map=$src=$root/src"

record() { # NAME PROGRAM...
	local name=$1; shift
	perf --buildid-dir $root/nobuildid record -N -q -e cpu-clock:u -F 2000 --call-graph fp -o perf/$name.data "$@" > $root/$name.out
}

# Hand-written assembler: the stacks would need frames that it does not make.
gcc -Wa,-L -nostdlib -static -Wl,--eh-frame-hdr -o $bin/assembler $src/assembler.s
gcc -Wa,-L -nostdlib -shared -s -Wl,-Bsymbolic,-z,notext -o $root/libassembler.so $src/assembler.s
cp $bin/assembler $root/libassembler.so $stages/symtab/testdata
perf --buildid-dir $root/nobuildid record -N -q -e cpu-clock:u -F 2000 -o perf/assembler.data $bin/assembler

# Parallel regions, at several levels of optimisation; `plain` has no debug
# information and fixed addresses.
for level in 0 1 2 3; do
	g++ $common -fopenmp -O$level -o $bin/regions_gcc_O$level $src/regions.cpp
	clang++ $common -fopenmp -O$level -o $bin/regions_clang_O$level $src/regions.cpp
done
g++ -w -fopenmp -O2 -no-pie -fno-pie -o $bin/regions_gcc_plain $src/regions.cpp
clang++ -w -fopenmp -O2 -no-pie -fno-pie -o $bin/regions_clang_plain $src/regions.cpp
for p in $bin/regions_*; do record $(basename $p) $p 1; done
clang --target=aarch64-linux-gnu $common -O1 -fopenmp -fPIC -c $src/regions_arm64.c -o regions_arm64.o
aarch64-linux-gnu-ld -shared -z max-page-size=4096 -o $stages/testdata/libregions_arm64.so regions_arm64.o
aarch64-linux-gnu-strip -d $stages/testdata/libregions_arm64.so

# Functions within functions, and statics of two units that are optimised together.
for level in 0 2; do gcc $common -O$level -o $bin/nested_O$level $src/nested.c; record nested_O$level $bin/nested_O$level 5; done
gcc $common -O2 -flto -o $bin/nested_lto $src/nested.c; record nested_lto $bin/nested_lto 5
gcc -O2 -o $bin/nested_plain $src/nested.c; record nested_plain $bin/nested_plain 5
for version in 4 5; do
	gcc $common -gdwarf-$version -O2 -flto -flto-partition=max -o $bin/privates_dw$version $src/privates.c $src/privates2.c
	record privates_dw$version $bin/privates_dw$version
done

# A Java program whose methods are compiled more than once.
javac -d $root $src/Tiers.java
record tiers java -XX:+UseSerialGC -XX:+PreserveFramePointer -XX:-BackgroundCompilation -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -cp $root Tiers
map=/tmp/perf-$(perf script -i perf/tiers.data -F pid | sort -n | head -1 | tr -d ' ').map
mv $map maps

# A stripped program with a debug link; gprofng copies the debug file only if it
# lies where it is run.
gcc $common -O1 -Wl,--build-id=none -o $bin/linked $src/linked.c
objcopy --only-keep-debug $bin/linked linked.debug
strip $bin/linked; objcopy --add-gnu-debuglink=linked.debug $bin/linked
gprofng collect app -p hi -O exp/linked.er $bin/linked
rm -f exp/linked.er/archives/{lib,ld-}*
mv exp/linked.er/archives/linked.debug_* debug/linked.debug

mkdir -p symfs$root; rm $bin/linked; mv bin symfs$root
tar -czf $out/recordings.tar.gz exp perf maps debug symfs
