#!/bin/bash
# make.sh: builds the programs in this folder in many ways, records the page faults of each,
# and packs all into ../recordings.tar.gz; then the heap and I/O calls of calls.c into
# ../traced.tar.gz. It wants gcc, g++, clang, lld, dwz, perf and gprofng.
set -euo pipefail
src=$(realpath "$(dirname "$0")"); out=$src/..
root=/tmp/inlined; bin=$root/bin; rm -rf $root; mkdir -p $bin $root/{perf,nobuildid}; cd $bin
common="-w -O2 -ffile-prefix-map=$src=$root/src"
c="$src/first.c $src/second.c"; cxx="-std=c++20 $src/first.cpp $src/second.cpp"

for version in 4 5; do
	gcc $common -gdwarf-$version -o c_gcc_$version $c
	clang $common -gdwarf-$version -o c_clang_$version $c
	g++ $common -gdwarf-$version -o cxx_gcc_$version $cxx
	clang++ $common -gdwarf-$version -o cxx_clang_$version $cxx
	g++ $common -gdwarf-$version -gsplit-dwarf -o cxx_split_$version $cxx
	cp cxx_gcc_$version cxx_dwz_$version; cp cxx_gcc_$version other; dwz -m common_$version cxx_dwz_$version other
done
cp cxx_gcc_5 cxx_sup; cp cxx_gcc_5 other; dwz --dwarf-5 -m common_sup cxx_sup other; rm other
g++ $common -g -fdebug-types-section -o cxx_types $cxx
g++ $common -g -flto -o cxx_lto $cxx
g++ $common -g1 -o cxx_g1 $cxx
clang++ $common -gline-tables-only -o cxx_clang_lines $cxx
clang++ $common -g -flto -fuse-ld=lld -o cxx_clang_lto $cxx
g++ $common -std=c++20 -g -o deep $src/deep.cpp
for p in $(ls | grep -v "[.]dwo$\|^common"); do
	perf --buildid-dir $root/nobuildid record -N -q -m 4096 -e page-faults:u -c 1 -o $root/perf/$p.data $bin/$p
done
mkdir -p $root/symfs/$root; mv $bin $root/symfs/$root
tar -C $root --sort=name --owner=0 --group=0 -czf $out/recordings.tar.gz perf symfs

# Of the experiment's archive only the program and gprofng's libraries for heap and I/O are kept;
# what is behind the end of a file's content is NULs.
cd $root; mkdir exp
gcc $common -g -o calls $src/calls.c
gprofng collect app -p off -H on -i on -a usedldobjects -o exp/calls.er ./calls > calls.log 2>&1
find exp/calls.er/archives -type f | grep -v '/\(calls\|libgp-heap.so\|libgp-iotrace.so\)_' | xargs rm
for f in exp/calls.er/*.xml; do tr -d '\0' < "$f" > t && mv t "$f"; done
tar -C $root --sort=name --owner=0 --group=0 -czf $out/traced.tar.gz exp
