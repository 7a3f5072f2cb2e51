#!/bin/bash
# Makes stopped.tar.gz beside this folder again (perf 6.1, gcc 12.2, two processors): recordings
# that are complete, or end where perf was stopped, in all ways that it has.
set -e
src=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
cd "$dir"
mkdir stopped
gcc -O1 -o work "$src/work.c"
record() { perf record -q -N -e cpu-clock:u -F 499 "$@"; }
in=stopped
record -o - ./work 2>/dev/null >$in/pipe.data
perf record -N -e cpu-clock:u -F 499 -o - ./work >$in/pipe_messages.data 2>&1
record -z -o - ./work 2>/dev/null | perf inject -b -o $in/pipe_injected.data 2>/dev/null
record -o file.data ./work 2>/dev/null
perf inject -b -i file.data -o $in/injected.data
perf record -q -e cpu-clock:u -F 499 -o turns.data --switch-output=1s ./work 200 >/dev/null 2>&1
n=0
for f in turns.data.*; do
	n=$((n + 1))
	mv "$f" $in/turn$n.data
done
mkfifo ctl ack
(record -D -1 -o - --control=fifo:ctl,ack ./work 200 >$in/pipe_control.data 2>/dev/null) &
for command in enable stop; do
	sleep 1
	echo $command >ctl
	head -1 ack >/dev/null
done
wait
record -o - ./work 200 >$in/pipe_interrupted.data 2>/dev/null &
p=$!
sleep 1
kill -INT $p
wait $p || true
record -o $in/interrupted.data ./work 200 2>/dev/null &
p=$!
sleep 1
kill -INT $p
wait $p || true
record --overwrite -o $in/overwrite.data ./work 2>/dev/null
record --tail-synthesize -o $in/tail.data ./work 2>/dev/null
record --max-size=8K -o $in/max.data ./work 100 2>/dev/null >&2 || true
record --no-buffering -o $in/nobuffering.data ./work 2>/dev/null
record --timestamp-boundary -o $in/boundary.data ./work 2>/dev/null
perf record -q -N -e cpu-clock:u -F 20000 -m 1 -o $in/lost.data ./work 20 >/dev/null 2>&1
for spec in "" =cpu =core =package =numa; do
	record --threads$spec -o $in/threads$spec.data ./work 2>/dev/null
done
for f in $in/*; do
	echo "$(basename "$f" .data) $(perf script -i "$f" -F event 2>/dev/null | grep -c .)"
done | grep -v samples.txt >samples.txt
mv samples.txt $in
tar czf "$src/../stopped.tar.gz" $in
rm -r "$dir"
