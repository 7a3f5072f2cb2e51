#!/usr/bin/env bash
# Makes names.tsv: the attributes of events, and what perf evlist calls them when
# the recording has no names. Usage: names.sh >names.tsv
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

events=()
for event in cpu-clock task-clock page-faults context-switches dummy; do
  for modifier in '' :u :k :h :uk :ukh :H :G :HG :uH :uG :uHG :kH :kG :kHG :ukHG :hG :I; do
    events+=("$event$modifier")
  done
done
for modifier in '' :u :k :p :pp :ppp :up :uHG; do
  events+=("mem:0x1000:rw$modifier" "mem:0x1000:w$modifier")
done
for event in "${events[@]}"; do
  perf record -q -e "$event" -c 100000 -o "$folder/data" true >"$folder/log" 2>&1 || continue
  python3 - "$folder/data" <<'EOF'
import struct, subprocess, sys
name = sys.argv[1]
b = bytearray(open(name, 'rb').read())
b[72:104] = bytes(32)  # no feature, so no EVENT_DESC
open(name, 'wb').write(b)
at, = struct.unpack_from('<Q', b, 24)
typ, size, config = struct.unpack_from('<IIQ', b, at)
flags, _, use, address = struct.unpack_from('<QIIQ', b, at + 40)
text = subprocess.run(['perf', 'evlist', '-i', name], stdout=subprocess.PIPE, text=True, check=True).stdout
print(typ, hex(config), hex(flags), use, hex(address), text.strip(), sep='\t')
EOF
done | sort -u
