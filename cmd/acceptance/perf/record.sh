#!/usr/bin/env bash
# Records what nobody here wrote with perf, ingests it, and prints what share of
# the samples is attributed to functions and why the rest is not: the table in
# docs/perf.md. Usage: cmd/acceptance/perf/record.sh STACKMILL [FOLDER]
set -euo pipefail

stackmill=$(realpath "${1:?usage: record.sh STACKMILL [FOLDER]}")
folder=${2:-$(mktemp -d)}
project=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$folder"
cd "$folder"
cat /proc/kallsyms >kallsyms

cat >work.py <<'EOF'
import collections, json, re
words = collections.Counter()
for i in range(200000):
    text = "%d-%s" % (i * 2654435761 % 1000003, hex(i))
    words[re.sub("[0-9]+", "n", text)] += 1
    words[json.dumps({"a": i, "b": [i, text]})[:6]] += 1
print(sum(words.values()))
EOF
{
  echo '#include <map>'
  echo '#include <regex>'
  echo '#include <string>'
  for i in $(seq 20); do
    echo "int f$i(const std::string &s) { std::map<int, std::string> m; m[$i] = s; return std::regex_search(s, std::regex(\"a+b\")) + m.size(); }"
  done
} >large.cpp

# run NAME PERF-OPTIONS -- COMMAND
run() {
  local name=$1
  shift
  echo "recording $name" >&2
  perf record -q -o "$name.data" "$@" >"$name.out" 2>"$name.err" || { cat "$name.err" >&2; exit 1; }
}

clock=(-e cpu-clock -F 997)
run go-build "${clock[@]}" -g -- env GOCACHE="$folder/go-build" GOFLAGS=-mod=mod go build -o go-build.bin "$(go env GOROOT)/src/cmd/gofmt"
run gcc "${clock[@]}" --call-graph dwarf,8192 -F 499 -- g++ -O2 -c large.cpp -o large.o
run gcc-fp "${clock[@]}" -g -- g++ -O2 -c large.cpp -o large.o
run git "${clock[@]}" -g -- git -C "$project" log -p --stat -n 40
run python "${clock[@]}" --call-graph dwarf,8192 -F 499 -- python3 work.py
run system "${clock[@]}" -a -g -- sh -c 'for i in 1 2 3; do tar -cf - "$1" | gzip -6 | sha256sum; done' sh "$project/stages"

rm -rf store
"$stackmill" ingest --store store --kallsyms kallsyms ./*.data
"$stackmill" problems --store store --severity warning

echo
echo 'Leaves: a function that has a name, a region without symbols, or a reason; and stacks without their root'
"$stackmill" query --store store "
  WITH leaves AS (
    SELECT experiment, function, exclusive, inclusive,
      CASE kind WHEN 'static' THEN 'region' WHEN 'unknown' THEN 'reason' ELSE 'named' END AS leaf
    FROM function_metrics WHERE mode = 'machine' AND metric = 'cpu-clock' AND function <> '<Total>'
  ), totals AS (
    SELECT experiment, inclusive AS total FROM function_metrics WHERE mode = 'machine' AND metric = 'cpu-clock' AND function = '<Total>'
  )
  SELECT replace(experiment, '.data', '') AS recording, any_value(total) // 1000000 AS ms,
    round(100 * COALESCE(sum(exclusive) FILTER (leaf = 'named'), 0) / any_value(total), 2) AS \"named %\",
    round(100 * COALESCE(sum(exclusive) FILTER (leaf = 'region'), 0) / any_value(total), 2) AS \"region %\",
    round(100 * (any_value(total) - COALESCE(sum(exclusive) FILTER (leaf <> 'reason'), 0)) / any_value(total), 2) AS \"reason %\",
    round(100 * COALESCE(max(inclusive) FILTER (function = '<Truncated-stack>'), 0) / any_value(total), 2) AS \"truncated %\"
  FROM leaves JOIN totals USING (experiment) GROUP BY experiment ORDER BY experiment"
echo
echo 'Reasons for leaves without a function'
"$stackmill" query --store store "
  SELECT replace(experiment, '.data', '') AS recording, reason, load_object, samples FROM unattributed
  WHERE subject = 'function' AND mode = 'machine' AND metric = 'cpu-clock' ORDER BY experiment, samples DESC"
echo
echo 'Reasons for truncated stacks'
"$stackmill" query --store store "
  SELECT replace(n.experiment, '.data', '') AS recording, r.reason, sum(v.samples) AS samples
  FROM raw_stacks r JOIN stack_values v USING (experiment_id, raw_stack_id) JOIN experiment_names n USING (experiment_id)
  WHERE r.reason <> '' AND v.metric = 'cpu-clock' GROUP BY ALL ORDER BY ALL"
