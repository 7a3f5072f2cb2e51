#!/bin/bash
# Builds and records everything of ../recordings.tar.gz below /tmp/corpus/objects.
# hrtick.c is the finer clock of the other recordings (see ../../README.md).
set -e
src=$(cd "$(dirname "$0")" && pwd) hrtick=$1
rm -rf /tmp/corpus/objects; mkdir -p /tmp/corpus/objects/src; cd /tmp/corpus/objects
cp "$src"/*.c src
cc="gcc -O1 -g1 -gdwarf-4 -fno-omit-frame-pointer -Wl,-rpath,/tmp/corpus/objects"
gcc -O2 -fPIC -shared -DMONO -Wl,--version-script="${hrtick%.c}.map" -o libhrtick.so "$hrtick"
$cc -fPIC -shared -Wl,-z,noseparate-code -o libold.so src/library.c
$cc -fPIC -shared -o libplain.so src/plain.c
$cc -o places src/places.c
$cc -o twice src/twice.c ./libold.so
$cc -Wl,-z,noseparate-code -o together src/twice.c ./libold.so
cp twice parted; python3 "$src/splitload.py" parted 0x4000
for v in 1 2; do
  $cc -DVERSION=$v -Wl,--build-id=none -o bare$v src/version.c
  $cc -DVERSION=$v -o marked$v src/version.c
done
collect() { LD_PRELOAD=$PWD/libhrtick.so gprofng collect app -p hi -O $1.er "${@:2}" > $1.log 2>&1; }
record() { perf record -q -e cpu-clock:u -F 999 -g -o $1.data "${@:2}"; }
for p in places twice together parted; do
  collect $p ./$p
  record $p -B ./$p
done
# Of what was rebuilt later nothing is kept, or nothing proves what it was.
cp bare1 version; collect bare -a off ./version; record bare -B ./version
rm version; cp marked1 version; collect marked -a off ./version; record marked ./version
# It is rebuilt while it is recorded.
for kind in bare marked; do
  rm version; cp ${kind}1 version
  record replaced_$kind sh -c "./version; cp ${kind}2 new; mv new version; ./version"
done
rm version
# Of the archives only these programs are kept.
find *.er/archives -type f -o -type l | grep -v '/\(places\|twice\|together\|parted\|libold.so\|libplain.so\)_' | xargs rm
for e in *.er; do for f in $e/*; do # what is behind the end of a file's content is NULs
  [ -f "$f" ] && case $f in *.xml) tr -d '\0' < "$f" > t && mv t "$f";; esac; done; done
tar -czf "$src/../recordings.tar.gz" --owner=0 --group=0 --sort=name *.er *.data places twice together parted libold.so libplain.so bare[12] marked[12]
