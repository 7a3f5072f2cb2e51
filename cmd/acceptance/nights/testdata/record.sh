#!/bin/sh
# record.sh DIR ROUNDS: records eight programs in turn, ROUNDS times, to DIR/runs/ROUND/PROGRAM.data.
# DIR/programs gets the programs and their input.
set -e
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/programs" "$1/runs"
cd "$1/programs"
for program in kernels tables events; do
	gcc -O2 -g -fno-omit-frame-pointer -o $program "$here/$program.c" -lm
done
gcc -O1 -g -o work "$here/../../compare/testdata/work.c"
cat "$(gcc -print-prog-name=cc1)" | head -c 10000000 > blob
names='uniform|exponential|sift_up|sift_down|schedule|diffuse|handle|main|heap|count|grid|next_grid|event|state'
for n in $(seq 14); do
	sed -E "s/\b($names)\b/\1_$n/g" "$here/events.c"
done > many.c
gcc -E -P many.c > many.i
record() {
	name=$1
	shift
	perf record -q -g -F 20000 -o "../runs/$round/$name.data" -- "$@" > /dev/null
}
for round in $(seq -w 1 "$2"); do
	mkdir -p "../runs/$round"
	for program in kernels tables events work; do
		record $program ./$program
	done
	record gzip gzip -7 -c blob
	record sqlite3 sqlite3 :memory: ".read $here/job.sql"
	record python3 "$(python3 -c 'import sys; print(sys.executable)')" "$here/job.py"
	record gcc "$(gcc -print-prog-name=cc1)" -quiet -O2 many.i -o /dev/null
done
