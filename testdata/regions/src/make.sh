#!/bin/bash
# make.sh: builds the programs in this folder in many ways, records the page faults of each,
# and packs all into ../recordings.tar.gz. It wants gcc, g++, gfortran, clang with libomp, lld and perf.
set -euo pipefail
src=$(realpath "$(dirname "$0")"); out=$src/..
root=/tmp/regions; bin=$root/bin; rm -rf $root; mkdir -p $bin $root/{perf,nobuildid,modules}; cd $bin
export OMP_NUM_THREADS=2
common="-w -fopenmp -ffile-prefix-map=$src=$root/src"
c="$src/first.c $src/second.c"; cxx="$src/classes.cpp $src/others.cpp"

for level in 0 2; do
	gcc $common -g -O$level -o c_gcc_O$level $c
	clang $common -g -O$level -o c_clang_O$level $c
	g++ $common -g -O$level -o cxx_gcc_O$level $cxx
	clang++ $common -g -O$level -o cxx_clang_O$level $cxx
	gfortran $common -g -O$level -J $root/modules -o fortran_O$level $src/procedures.f90 $src/pages.c
done
gcc $common -g -gdwarf-4 -O3 -o c_gcc_O3 $c
clang $common -g -gdwarf-4 -O3 -o c_clang_O3 $c
g++ $common -g -O1 -gsplit-dwarf -o cxx_gcc_split $cxx
clang++ $common -g -flto -fuse-ld=lld -O2 -o cxx_clang_lto $cxx
gcc $common -g -flto -O2 -DLTO -o c_gcc_lto $c
clang $common -g -flto -fuse-ld=lld -O2 -o c_clang_lto $c
gcc $common -O2 -o c_gcc_plain $c
g++ $common -O2 -o cxx_gcc_plain $cxx
clang $common -O2 -o c_clang_plain $c
for p in $(ls | grep -v "[.]dwo$"); do
	perf --buildid-dir $root/nobuildid record -N -q -m 4096 -e page-faults:u -c 1 -o $root/perf/$p.data $bin/$p
done
mkdir -p $root/symfs/$root; mv $bin $root/symfs/$root
tar -C $root --sort=name --owner=0 --group=0 -czf $out/recordings.tar.gz perf symfs
