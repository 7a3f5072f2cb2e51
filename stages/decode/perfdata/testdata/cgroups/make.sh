# Records a busy program in two control groups; needs root and cgroup2 at $groups.
groups=${1:-/sys/fs/cgroup/unified}
mkdir -p "$groups/one" "$groups/two"
run() { echo $BASHPID >"$groups/$1/cgroup.procs"; exec ./busy "$2"; }
export -f run
export groups
perf record -q -F 400 -e cpu-clock:u --all-cgroups -o groups.data bash -c 'run one 1 & run two 2 & wait'
perf report -i groups.data --no-children --sort cgroup -n --stdio
