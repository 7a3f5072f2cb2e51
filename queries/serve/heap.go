package serve

import (
	"cmp"
	"context"

	"stackmill/queries"
)

// heapAnswer describes the traced heap of the selection.
type heapAnswer struct {
	Mode        string        `json:"mode"`
	Experiments int64         `json:"experiments"` // with traced heaps
	Without     int64         `json:"without"`     // selected experiments without
	Processes   int64         `json:"processes"`   // that allocated
	Allocations int64         `json:"allocations"`
	Bytes       int64         `json:"bytes"` // of all allocations
	Leaks       int64         `json:"leaks"`
	LeakedBytes int64         `json:"leaked_bytes"`
	Peaks       []heapPeak    `json:"peaks"` // of the processes with the highest peaks
	Shown       *heapPeak     `json:"shown"` // the process that timeline is about
	Timeline    []heapMoment  `json:"timeline"`
	Sizes       []heapSizes   `json:"sizes"`
	StackCount  int64         `json:"stack_count"` // how many stacks there are
	Stacks      []heapOfStack `json:"stacks"`
}

// heapPeak is a process, and the most memory that it had allocated at one time. The peak is missing if a filter left
// out calls that freed blocks.
type heapPeak struct {
	ExperimentID string `json:"experiment_id"`
	Experiment   string `json:"experiment"`
	Process      int64  `json:"process"`
	PID          *int64 `json:"pid"`
	Target       string `json:"target"`
	PeakBytes    *int64 `json:"peak_bytes"`
	PeakNS       *int64 `json:"peak_ns"`
	Allocations  int64  `json:"allocations"`
	Bytes        int64  `json:"bytes"`
	Leaks        int64  `json:"leaks"`
	LeakedBytes  int64  `json:"leaked_bytes"`
}

// heapMoment is an interval of time in which the heap changed.
type heapMoment struct {
	At      int64 `json:"at"`      // ns, when the interval starts
	Highest int64 `json:"highest"` // most bytes allocated in it
	Last    int64 `json:"last"`    // bytes allocated at its end
}

// heapSizes is a range of sizes.
type heapSizes struct {
	What   string `json:"what"` // allocation or leak
	Range  string `json:"range"`
	Above  int64  `json:"above"`
	Upto   int64  `json:"upto"`
	Blocks int64  `json:"blocks"`
	Bytes  int64  `json:"bytes"`
}

// heapOfStack is the blocks that one stack of calls allocated, in all experiments. Lives are those of blocks that were
// freed, ages how long leaked blocks had been there when their process ended; both are missing without such blocks.
type heapOfStack struct {
	Stack        string `json:"stack"` // names from the root to the leaf, separated by semicolons
	Allocations  int64  `json:"allocations"`
	Bytes        int64  `json:"bytes"`
	Smallest     int64  `json:"smallest"`
	Largest      int64  `json:"largest"`
	Leaks        int64  `json:"leaks"`
	LeakedBytes  int64  `json:"leaked_bytes"`
	SmallestLeak *int64 `json:"smallest_leak"`
	LargestLeak  *int64 `json:"largest_leak"`
	Freed        int64  `json:"freed"` // how many blocks were freed
	ShortestLife *int64 `json:"shortest_life"`
	MeanLife     *int64 `json:"mean_life"`
	LongestLife  *int64 `json:"longest_life"`
	YoungestLeak *int64 `json:"youngest_leak"`
	MeanLeakAge  *int64 `json:"mean_leak_age"`
	OldestLeak   *int64 `json:"oldest_leak"`
	Experiments  int64  `json:"experiments"`
}

const (
	mostPeaks     = 200
	heapIntervals = 600
)

// showHeap answers with the peaks of processes, the heap of one of them over time, and blocks by size and by stack.
func showHeap(w *job) error {
	mode := w.mode()
	limit, err := w.intValue("limit", 200)
	if err != nil {
		return err
	}
	process, err := w.intValues("process")
	if err != nil {
		return err
	}
	f, err := w.filter(mode, false)
	if err != nil {
		return err
	}
	db, done, err := w.open(f, []string{"heap_statistics", "heap_sizes", "heap_blocks", "heap_calls", "mode_stacks", "frames", "functions", "processes", "metrics"}, w.values["experiment"]...)
	if err != nil {
		return err
	}
	defer done()
	traced, err := tracedExperiments(w.ctx, db, "heap")
	if err != nil {
		return err
	}
	a := heapAnswer{Mode: mode, Experiments: traced, Without: int64(db.Count) - traced, Peaks: []heapPeak{}, Timeline: []heapMoment{}, Sizes: []heapSizes{}, Stacks: []heapOfStack{}}
	processes, err := readRows[heapPeak](w.ctx, db, `SELECT experiment_id, experiment, process, pid, coalesce(target, '') AS target, peak_bytes, peak_ns,
  allocations, allocated_bytes AS bytes, leaks, leaked_bytes FROM heap_statistics ORDER BY peak_bytes DESC NULLS LAST, allocated_bytes DESC, experiment, experiment_id, process`)
	if err != nil || len(processes) == 0 {
		return cmp.Or(err, w.writeExact(a))
	}
	for i := range processes {
		p := &processes[i]
		a.Allocations, a.Bytes, a.Leaks, a.LeakedBytes = a.Allocations+p.Allocations, a.Bytes+p.Bytes, a.Leaks+p.Leaks, a.LeakedBytes+p.LeakedBytes
		chosen := len(process) > 0 && p.Process == process[0] && p.ExperimentID == w.values.Get("run")
		if a.Shown == nil || chosen {
			a.Shown = p
		}
	}
	a.Processes = int64(len(processes))
	a.Peaks = processes[:min(len(processes), mostPeaks)]
	if a.Shown.PeakBytes != nil {
		if a.Timeline, err = readRows[heapMoment](w.ctx, db, `WITH live AS (
  SELECT time_ns, sample, sum(CASE WHEN allocates THEN size ELSE 0 END - freed) OVER (ORDER BY time_ns, sample) AS live FROM heap_calls WHERE experiment_id = $1 AND process = $2
),
ends AS (SELECT min(time_ns) AS first, greatest((max(time_ns) - min(time_ns)) // $3 + 1, 1) AS width FROM live)
SELECT (first + (time_ns - first) // width * width)::BIGINT AS "at", max(live)::BIGINT AS highest, arg_max(live, (time_ns, sample))::BIGINT AS last
FROM live, ends GROUP BY ALL ORDER BY "at"`, a.Shown.ExperimentID, a.Shown.Process, heapIntervals); err != nil {
			return err
		}
	}
	if a.Sizes, err = readRows[heapSizes](w.ctx, db, `SELECT what, size_range AS range, above, upto, sum(blocks)::BIGINT AS blocks, sum(bytes)::BIGINT AS bytes FROM heap_sizes GROUP BY ALL ORDER BY what, above`); err != nil {
		return err
	}
	order := "leaked_bytes DESC, bytes DESC"
	if w.values.Get("what") == "allocations" {
		order = "bytes DESC, leaked_bytes DESC"
	}
	type row struct {
		heapOfStack
		All int64 `json:"all_stacks"`
	}
	rows, err := readRows[row](w.ctx, db, heapByStack+"ORDER BY "+order+", stack LIMIT $2", mode, max(limit, 1))
	if err != nil {
		return err
	}
	for _, r := range rows {
		a.StackCount = r.All
		a.Stacks = append(a.Stacks, r.heapOfStack)
	}
	return w.writeExact(a)
}

// tracedExperiments returns how many experiments have a kind of metrics, even if they recorded no events.
func tracedExperiments(ctx context.Context, db *queries.DB, kind string) (n int64, err error) {
	err = db.QueryRowContext(ctx, "SELECT count(DISTINCT experiment_id) FROM metrics WHERE kind = ?", kind).Scan(&n)
	return n, err
}

// heapByStack is SQL for the rows of heapOfStack in the mode $1. Blocks are summed by recorded stack first, of which
// there are much fewer, and then by the text of the stack, which is the same in all experiments.
const heapByStack = `WITH recorded AS (
  SELECT experiment_id, stack, count(*) AS n, sum(size) AS bytes, min(size) AS smallest, max(size) AS largest,
    count(*) FILTER (leaked <> 0) AS leaks, sum(leaked) AS leaked_bytes, min(leaked) FILTER (leaked <> 0) AS smallest_leak, max(leaked) AS largest_leak,
    count(*) FILTER (fate = 'freed') AS freed, min(ended_ns - allocated_ns) FILTER (fate = 'freed') AS shortest, sum(ended_ns - allocated_ns) FILTER (fate = 'freed') AS lives,
    max(ended_ns - allocated_ns) FILTER (fate = 'freed') AS longest, min(ended_ns - allocated_ns) FILTER (fate = 'leaked') AS youngest,
    sum(ended_ns - allocated_ns) FILTER (fate = 'leaked') AS ages, max(ended_ns - allocated_ns) FILTER (fate = 'leaked') AS oldest
  FROM heap_blocks GROUP BY ALL
),
wanted AS (
  SELECT r.* EXCLUDE (stack), k.stack_id FROM recorded r JOIN mode_stacks k USING (experiment_id, stack) WHERE k.mode = $1
),
` + stackTexts + `
SELECT coalesce(t.stack, '') AS stack, sum(n)::BIGINT AS allocations, sum(bytes)::BIGINT AS bytes, min(smallest) AS smallest, max(largest) AS largest,
  sum(leaks)::BIGINT AS leaks, sum(leaked_bytes)::BIGINT AS leaked_bytes, min(smallest_leak) AS smallest_leak, nullif(max(largest_leak), 0) AS largest_leak, sum(freed)::BIGINT AS freed,
  min(shortest) AS shortest_life, (sum(lives) // nullif(sum(freed), 0))::BIGINT AS mean_life, max(longest) AS longest_life,
  min(youngest) AS youngest_leak, (sum(ages) // nullif(sum(leaks), 0))::BIGINT AS mean_leak_age, max(oldest) AS oldest_leak,
  count(DISTINCT experiment_id) AS experiments, count(*) OVER () AS all_stacks
FROM wanted w LEFT JOIN stack_texts t USING (experiment_id, stack_id)
GROUP BY t.stack `
