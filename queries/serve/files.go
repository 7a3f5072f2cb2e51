package serve

// filesAnswer describes the input and output of the selection: of files (traced by gprofng), of system calls and of
// devices (tracepoints of perf).
type filesAnswer struct {
	Mode        string         `json:"mode"`
	Experiments int64          `json:"experiments"` // selected ones
	Traced      int64          `json:"traced"`      // experiments with traced I/O calls
	Called      int64          `json:"called"`      // experiments with system calls
	Requested   int64          `json:"requested"`   // experiments with requests to devices
	Files       []fileActivity `json:"files"`
	FileCount   int64          `json:"file_count"`
	Kinds       []ioKind       `json:"kinds"`
	Sizes       []ioSizes      `json:"sizes"`
	Calls       []systemCall   `json:"calls"`
	Devices     []deviceUse    `json:"devices"`
}

// fileActivity is the calls on files of one name, in all experiments.
type fileActivity struct {
	Name         string `json:"name"`
	FileSystem   string `json:"file_system"`
	Opens        int64  `json:"opens"`
	Reads        int64  `json:"reads"`
	ReadBytes    int64  `json:"read_bytes"`
	ReadNS       int64  `json:"read_ns"`
	Writes       int64  `json:"writes"`
	WrittenBytes int64  `json:"written_bytes"`
	WriteNS      int64  `json:"write_ns"`
	Others       int64  `json:"others"`
	OtherNS      int64  `json:"other_ns"`
	Errors       int64  `json:"errors"`
	ErrorNS      int64  `json:"error_ns"`
	TimeNS       int64  `json:"time_ns"` // of all calls
	LongestNS    int64  `json:"longest_ns"`
	Smallest     *int64 `json:"smallest"` // nonempty transfer
	Largest      *int64 `json:"largest"`
	Threads      int64  `json:"threads"`
	Experiments  int64  `json:"experiments"`
}

// ioKind is one kind of calls, as in the view io_statistics.
type ioKind struct {
	Part      string `json:"part"`
	Calls     int64  `json:"calls"`
	Bytes     int64  `json:"bytes"`
	Smallest  *int64 `json:"smallest"`
	Largest   *int64 `json:"largest"`
	TimeNS    int64  `json:"time_ns"`
	LongestNS int64  `json:"longest_ns"`
}

// ioSizes is a range of sizes of transfers.
type ioSizes struct {
	Part  string `json:"part"`
	Range string `json:"range"`
	Above int64  `json:"above"`
	Upto  int64  `json:"upto"`
	Calls int64  `json:"calls"`
	Bytes int64  `json:"bytes"`
}

// systemCall is the calls of one name. The times are missing if no call has a duration.
type systemCall struct {
	Name        string  `json:"name"`
	Calls       int64   `json:"calls"`
	Timed       int64   `json:"timed"`
	TimeNS      *int64  `json:"time_ns"`
	LongestNS   *int64  `json:"longest_ns"`
	Errors      int64   `json:"errors"`
	ErrorNames  *string `json:"error_names"`
	Bytes       *int64  `json:"bytes"` // transferred, of calls that read or write
	Threads     int64   `json:"threads"`
	Experiments int64   `json:"experiments"`
}

// deviceUse is the requests of one operation to one device.
type deviceUse struct {
	Device      string `json:"device"`
	Operation   string `json:"operation"`
	Requests    int64  `json:"requests"`
	Bytes       int64  `json:"bytes"`
	Timed       int64  `json:"timed"`
	TimeNS      *int64 `json:"time_ns"`
	LongestNS   *int64 `json:"longest_ns"`
	Errors      int64  `json:"errors"`
	Experiments int64  `json:"experiments"`
}

// showFiles answers with files, system calls and devices, by time.
func showFiles(w *job) error {
	mode := w.mode()
	limit, err := w.intValue("limit", 200)
	if err != nil {
		return err
	}
	f, err := w.filter(mode, false)
	if err != nil {
		return err
	}
	db, done, err := w.open(f, []string{"io_calls", "io_statistics", "io_sizes", "syscalls", "block_requests", "metrics"}, w.values["experiment"]...)
	if err != nil {
		return err
	}
	defer done()
	a := filesAnswer{Mode: mode, Experiments: int64(db.Count)}
	type counts struct {
		Traced    int64 `json:"traced"`
		Called    int64 `json:"called"`
		Requested int64 `json:"requested"`
	}
	c, err := readRow[counts](w.ctx, db, `SELECT (SELECT count(DISTINCT experiment_id) FROM metrics WHERE kind = 'io') AS traced,
  (SELECT count(DISTINCT experiment_id) FROM syscalls) AS called, (SELECT count(DISTINCT experiment_id) FROM block_requests) AS requested`)
	if err != nil {
		return err
	}
	a.Traced, a.Called, a.Requested = c.Traced, c.Called, c.Requested
	type row struct {
		fileActivity
		All int64 `json:"all_files"`
	}
	rows, err := readRows[row](w.ctx, db, `SELECT name, min(file_system) AS file_system, count(*) FILTER (operation = 'open') AS opens,
  count(*) FILTER (part = 'read') AS reads, coalesce(sum(bytes) FILTER (part = 'read'), 0)::BIGINT AS read_bytes, coalesce(sum(metric_ns) FILTER (part = 'read'), 0)::BIGINT AS read_ns,
  count(*) FILTER (part = 'write') AS writes, coalesce(sum(bytes) FILTER (part = 'write'), 0)::BIGINT AS written_bytes, coalesce(sum(metric_ns) FILTER (part = 'write'), 0)::BIGINT AS write_ns,
  count(*) FILTER (part = 'other') AS others, coalesce(sum(metric_ns) FILTER (part = 'other'), 0)::BIGINT AS other_ns,
  count(*) FILTER (part = 'error') AS errors, coalesce(sum(metric_ns) FILTER (part = 'error'), 0)::BIGINT AS error_ns, sum(metric_ns)::BIGINT AS time_ns,
  max(duration_ns) AS longest_ns, min(bytes) FILTER (bytes > 0 AND part IN ('read', 'write')) AS smallest, max(bytes) FILTER (bytes > 0 AND part IN ('read', 'write')) AS largest,
  count(DISTINCT (experiment_id, process, thread_id)) AS threads, count(DISTINCT experiment_id) AS experiments, count(*) OVER () AS all_files
FROM io_calls GROUP BY name ORDER BY time_ns DESC, name LIMIT $1`, max(limit, 1))
	if err != nil {
		return err
	}
	a.Files = []fileActivity{}
	for _, r := range rows {
		a.FileCount = r.All
		a.Files = append(a.Files, r.fileActivity)
	}
	if a.Kinds, err = readRows[ioKind](w.ctx, db, `SELECT part, sum(calls)::BIGINT AS calls, sum(bytes)::BIGINT AS bytes, min(smallest_bytes) AS smallest, max(largest_bytes) AS largest,
  sum(time_ns)::BIGINT AS time_ns, max(longest_ns) AS longest_ns FROM io_statistics GROUP BY part ORDER BY array_position(['read', 'write', 'other', 'error'], part)`); err != nil {
		return err
	}
	if a.Sizes, err = readRows[ioSizes](w.ctx, db, `SELECT part, size_range AS range, above, upto, sum(calls)::BIGINT AS calls, sum(bytes)::BIGINT AS bytes FROM io_sizes GROUP BY ALL ORDER BY part, above`); err != nil {
		return err
	}
	if a.Calls, err = readRows[systemCall](w.ctx, db, systemCalls); err != nil {
		return err
	}
	if a.Devices, err = readRows[deviceUse](w.ctx, db, `SELECT device, operation, sum(period)::BIGINT AS requests, coalesce(sum(bytes * period), 0)::BIGINT AS bytes, count(duration_ns) AS timed,
  sum(duration_ns)::BIGINT AS time_ns, max(duration_ns) AS longest_ns, coalesce(sum(period) FILTER (error <> 0), 0)::BIGINT AS errors, count(DISTINCT experiment_id) AS experiments
FROM block_requests GROUP BY device, operation ORDER BY time_ns DESC NULLS LAST, bytes DESC, device, operation`); err != nil {
		return err
	}
	return w.writeExact(a)
}

// systemCalls is SQL for the rows of systemCall. The result of a call that reads or writes is a number of bytes.
const systemCalls = `SELECT coalesce(name, number::VARCHAR) AS name, sum(period)::BIGINT AS calls, count(duration_ns) AS timed, sum(duration_ns)::BIGINT AS time_ns, max(duration_ns) AS longest_ns,
  coalesce(sum(period) FILTER (error IS NOT NULL), 0)::BIGINT AS errors, string_agg(DISTINCT coalesce(error_name, error::VARCHAR), ', ' ORDER BY coalesce(error_name, error::VARCHAR)) FILTER (error IS NOT NULL) AS error_names,
  (sum(result * period) FILTER (result > 0 AND name IN ('read', 'write', 'pread64', 'pwrite64', 'readv', 'writev', 'preadv', 'pwritev', 'preadv2', 'pwritev2',
    'sendto', 'recvfrom', 'sendmsg', 'recvmsg', 'sendfile', 'sendfile64', 'copy_file_range', 'splice', 'getdents64')))::BIGINT AS bytes,
  count(DISTINCT (experiment_id, process, thread_id)) AS threads, count(DISTINCT experiment_id) AS experiments
FROM syscalls GROUP BY ALL ORDER BY time_ns DESC NULLS LAST, calls DESC, name`

// stackUse is the calls, waits or requests that one stack made.
type stackUse struct {
	Stack       string `json:"stack"` // names from the root to the leaf, separated by semicolons
	Count       int64  `json:"count"`
	Bytes       int64  `json:"bytes"`
	TimeNS      int64  `json:"time_ns"`
	LongestNS   int64  `json:"longest_ns"`
	Errors      int64  `json:"errors"`
	Experiments int64  `json:"experiments"`
}

// stacksOf is SQL for the rows of stackUse in the mode $1. The events have the columns experiment_id, stack, n, bytes,
// ns and failed, and are selected by $2.
func stacksOf(events string) string {
	return `WITH recorded AS (
  SELECT experiment_id, stack, sum(n) AS n, sum(bytes) AS bytes, sum(ns) AS ns, max(longest) AS longest, sum(n) FILTER (failed) AS errors FROM (` + events + `) GROUP BY ALL
),
wanted AS (
  SELECT r.* EXCLUDE (stack), k.stack_id FROM recorded r JOIN mode_stacks k USING (experiment_id, stack) WHERE k.mode = $1
),
` + stackTexts + `
SELECT coalesce(t.stack, '') AS stack, sum(n)::BIGINT AS count, coalesce(sum(bytes), 0)::BIGINT AS bytes, coalesce(sum(ns), 0)::BIGINT AS time_ns, coalesce(max(longest), 0)::BIGINT AS longest_ns,
  coalesce(sum(errors), 0)::BIGINT AS errors, count(DISTINCT experiment_id) AS experiments
FROM wanted w LEFT JOIN stack_texts t USING (experiment_id, stack_id)
GROUP BY t.stack ORDER BY time_ns DESC, count DESC, stack`
}

// stackSources has, for each kind of thing that stacks can be requested of, the view that it reads and its events.
var stackSources = map[string]struct{ view, events string }{
	"file":        {"io_calls", "SELECT experiment_id, stack, 1 AS n, bytes, metric_ns AS ns, duration_ns AS longest, failed FROM io_calls WHERE name = $2"},
	"system-call": {"syscalls", "SELECT experiment_id, stack, period AS n, NULL::BIGINT AS bytes, duration_ns AS ns, duration_ns AS longest, error IS NOT NULL AS failed FROM syscalls WHERE coalesce(name, number::VARCHAR) = $2"},
	"device":      {"block_requests", "SELECT experiment_id, stack, period AS n, bytes * period AS bytes, duration_ns AS ns, duration_ns AS longest, coalesce(error <> 0, false) AS failed FROM block_requests WHERE device || ' ' || operation = $2"},
	"lock":        {"lock_waits", "SELECT experiment_id, stack, period AS n, NULL::BIGINT AS bytes, duration_ns AS ns, duration_ns AS longest, coalesce(result <> 0, false) AS failed FROM lock_waits WHERE " + lockKey + " = $2"},
	"object":      {"sync_samples", "SELECT y.experiment_id, s.stack, 1 AS n, NULL::BIGINT AS bytes, y.metric_ns AS ns, y.duration_ns AS longest, false AS failed FROM " + syncWaits + " WHERE " + syncKey + " = $2"},
}

// stackKinds are the kinds of stackSources.
var stackKinds = []string{"file", "system-call", "device", "lock", "object"}

// listStacks answers with the stacks of the calls on a file, of a system call, or of waits for a lock.
func listStacks(w *job) error {
	mode := w.mode()
	f, err := w.filter(mode, false)
	if err != nil {
		return err
	}
	source := stackSources[w.values.Get("kind")]
	db, done, err := w.open(f, []string{source.view, "samples", "sync_variables", "mode_stacks", "frames", "functions"}, w.values["experiment"]...)
	if err != nil {
		return err
	}
	defer done()
	rows, err := readRows[stackUse](w.ctx, db, stacksOf(source.events), mode, w.values.Get("item"))
	if err != nil {
		return err
	}
	return w.writeExact(rows)
}
