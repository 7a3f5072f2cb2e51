package serve

import (
	"fmt"

	"stackmill/queries"
)

// locksAnswer says what threads waited for.
type locksAnswer struct {
	Mode        string       `json:"mode"`
	Experiments int64        `json:"experiments"` // selected ones
	Traced      int64        `json:"traced"`      // experiments with traced synchronization
	Contended   int64        `json:"contended"`   // experiments with waits for locks of the kernel
	Scheduled   int64        `json:"scheduled"`   // experiments that say how long threads waited, and who woke them
	Analyzed    int64        `json:"analyzed"`    // experiments that were searched for deadlocks or data races
	Locks       []lockUse    `json:"locks"`
	Waiters     []lockWaiter `json:"waiters"`
	WaiterCount int64        `json:"waiter_count"`
	Wakers      []waker      `json:"wakers"`
	WakerCount  int64        `json:"waker_count"`
	Deadlocks   []lockEvent  `json:"deadlocks"`
	Races       []raceAccess `json:"races"`
}

// lockUse is the waits for one synchronization object or lock of the kernel. Objects with a variable are the same
// object in all experiments; others are of one experiment.
type lockUse struct {
	Key         string  `json:"key"`
	Kind        string  `json:"kind"` // object, or the type of a lock of the kernel
	Kernel      bool    `json:"kernel"`
	Variable    *string `json:"variable"`
	Program     *string `json:"program"`    // of the variable
	Address     *string `json:"address"`    // hexadecimal; missing if it differs
	Experiment  *string `json:"experiment"` // missing if there are several
	Waits       int64   `json:"waits"`
	Timed       int64   `json:"timed"` // how many of the waits have a duration
	WaitNS      *int64  `json:"wait_ns"`
	LongestNS   *int64  `json:"longest_ns"`
	Threads     int64   `json:"threads"`
	Experiments int64   `json:"experiments"`
}

// lockWaiter is the waits of one thread for one object or lock.
type lockWaiter struct {
	Key        string  `json:"key"`
	Experiment string  `json:"experiment"`
	Thread     int64   `json:"thread"`
	ThreadName *string `json:"thread_name"`
	Stack      string  `json:"stack"`  // the one with the longest waits
	Stacks     int64   `json:"stacks"` // how many there are
	Waits      int64   `json:"waits"`
	WaitNS     *int64  `json:"wait_ns"`
	LongestNS  *int64  `json:"longest_ns"`
}

// waker is a function that waited, and the one that woke it up.
type waker struct {
	Function      *string `json:"function"`
	Thread        *string `json:"thread"`
	WakerFunction *string `json:"waker_function"`
	Waker         *string `json:"waker"`
	Waits         int64   `json:"waits"`
	WaitNS        int64   `json:"wait_ns"`
	Experiments   int64   `json:"experiments"`
}

// lockEvent is an event of a deadlock: a thread locks an object.
type lockEvent struct {
	Experiment string  `json:"experiment"`
	Deadlock   int64   `json:"deadlock"`
	Process    int64   `json:"process"`
	Thread     int64   `json:"thread"`
	ThreadName *string `json:"thread_name"`
	At         *int64  `json:"at"` // ns since the experiment's start
	Address    string  `json:"address"`
	LockType   int64   `json:"lock_type"`
	Type       int64   `json:"type"`
	Stack      string  `json:"stack"`
}

// raceAccess is the accesses of one thread to an address, by one stack, that race with others of the same race.
type raceAccess struct {
	Experiment string  `json:"experiment"`
	Race       int64   `json:"race"`
	Thread     int64   `json:"thread"`
	ThreadName *string `json:"thread_name"`
	Address    string  `json:"address"`
	Type       int64   `json:"type"`
	Accesses   int64   `json:"accesses"`
	Stack      string  `json:"stack"`
}

const (
	// syncWaits is SQL for the traced waits (y) with their samples (s), variables (v) and experiments (n).
	syncWaits = `sync_samples y JOIN samples s USING (experiment_id, sample)
LEFT JOIN sync_variables v ON v.experiment_id = y.experiment_id AND v.process = s.process AND v.object = y.object
LEFT JOIN experiments x ON x.experiment_id = y.experiment_id`
	// syncKey is SQL that identifies the object of a wait: by its program and variable in all
	// experiments, or else by its address in one process.
	syncKey = `CASE WHEN v.variable IS NOT NULL THEN coalesce(x.target, '') || ' ' || v.variable ELSE y.experiment_id || ' ' || s.process || ' 0x' || lower(to_hex(y.object)) END`
	// lockKey is SQL that identifies a lock of the kernel in one experiment.
	lockKey = `(experiment_id || ' 0x' || lower(to_hex("lock")))`
)

// lockObjects is SQL for the rows of lockUse.
const lockObjects = `WITH waits AS (
  SELECT ` + syncKey + ` AS key, 'object' AS kind, false AS kernel, v.variable, x.target AS program, y.object AS address, y.experiment_id, s.process, s.thread_id, 1 AS n, y.metric_ns AS ns, y.duration_ns AS longest
  FROM ` + syncWaits + `
  UNION ALL
  SELECT ` + lockKey + `, type, true, NULL, NULL, "lock", experiment_id, process, thread_id, period, duration_ns, duration_ns FROM lock_waits
)
SELECT key, coalesce(any_value(kind), 'lock') AS kind, kernel, any_value(variable) AS variable, any_value(program) AS program, IF(min(address) = max(address), '0x' || lower(to_hex(min(address))), NULL) AS address,
  IF(count(DISTINCT experiment_id) = 1, any_value(n.experiment), NULL) AS experiment, sum(w.n)::BIGINT AS waits, count(ns) AS timed, sum(ns)::BIGINT AS wait_ns, max(longest) AS longest_ns,
  count(DISTINCT (experiment_id, process, thread_id)) AS threads, count(DISTINCT experiment_id) AS experiments
FROM waits w LEFT JOIN experiment_names n USING (experiment_id) GROUP BY key, kernel ORDER BY wait_ns DESC NULLS LAST, waits DESC, key`

// lockWaiters is SQL for the rows of lockWaiter in the mode $1, at most $2.
const lockWaiters = `WITH waits AS (
  SELECT ` + syncKey + ` AS key, y.experiment_id, s.process, s.thread_id, s.stack, 1 AS n, y.metric_ns AS ns, y.duration_ns AS longest FROM ` + syncWaits + `
  UNION ALL
  SELECT ` + lockKey + `, experiment_id, process, thread_id, stack, period, duration_ns, duration_ns FROM lock_waits
),
summed AS (
  SELECT key, experiment_id, process, thread_id, stack, sum(n) AS n, sum(ns) AS ns, max(longest) AS longest FROM waits GROUP BY ALL
),
wanted AS (
  SELECT s.*, k.stack_id FROM summed s LEFT JOIN (FROM mode_stacks WHERE mode = $1) k USING (experiment_id, stack)
),
` + stackTexts + `,
named AS (
  SELECT experiment_id, process, thread_id, arg_max(thread_name, name_no) AS thread_name FROM thread_names GROUP BY ALL
)
SELECT l.key, e.experiment, l.thread_id AS thread, n.thread_name, coalesce(arg_max(t.stack, (coalesce(l.ns, 0), l.n, t.stack)), '') AS stack, count(DISTINCT coalesce(t.stack, '')) AS stacks,
  sum(l.n)::BIGINT AS waits, sum(l.ns)::BIGINT AS wait_ns, max(l.longest) AS longest_ns, count(*) OVER () AS all_waiters
FROM wanted l LEFT JOIN stack_texts t USING (experiment_id, stack_id) LEFT JOIN experiment_names e USING (experiment_id) LEFT JOIN named n USING (experiment_id, process, thread_id)
GROUP BY l.key, e.experiment, l.process, l.thread_id, n.thread_name ORDER BY wait_ns DESC NULLS LAST, waits DESC, l.key, e.experiment, thread LIMIT $2`

// showLocks answers with what threads waited for, which threads, and who woke them; with deadlocks and data races, if
// the recordings have any.
func showLocks(w *job) error {
	mode := w.mode()
	limit, err := w.intValue("limit", 200)
	if err != nil {
		return err
	}
	f, err := w.filter(mode, false)
	if err != nil {
		return err
	}
	reads := []string{"sync_samples", "samples", "sync_variables", "lock_waits", "functions", "thread_names", "wakers", "wait_samples", "deadlock_samples", "race_samples", "mode_stacks", "frames", "metrics"}
	db, done, err := w.open(f, reads, w.values["experiment"]...)
	if err != nil {
		return err
	}
	defer done()
	a := locksAnswer{Mode: mode, Experiments: int64(db.Count), Waiters: []lockWaiter{}, Wakers: []waker{}}
	type counts struct {
		Traced    int64 `json:"traced"`
		Contended int64 `json:"contended"`
		Scheduled int64 `json:"scheduled"`
		Analyzed  int64 `json:"analyzed"`
	}
	c, err := readRow[counts](w.ctx, db, `SELECT count(DISTINCT experiment_id) FILTER (kind = 'sync') AS traced, (SELECT count(DISTINCT experiment_id) FROM lock_waits) AS contended,
  count(DISTINCT experiment_id) FILTER (kind = 'wait') AS scheduled, count(DISTINCT experiment_id) FILTER (kind IN ('deadlock', 'race')) AS analyzed FROM metrics`)
	if err != nil {
		return err
	}
	a.Traced, a.Contended, a.Scheduled, a.Analyzed = c.Traced, c.Contended, c.Scheduled, c.Analyzed
	if a.Locks, err = readRows[lockUse](w.ctx, db, lockObjects); err != nil {
		return err
	}
	type waiterRow struct {
		lockWaiter
		All int64 `json:"all_waiters"`
	}
	waiters, err := readRows[waiterRow](w.ctx, db, lockWaiters, mode, max(limit, 1))
	if err != nil {
		return err
	}
	for _, r := range waiters {
		a.WaiterCount = r.All
		a.Waiters = append(a.Waiters, r.lockWaiter)
	}
	if a.Scheduled > 0 {
		type wakerRow struct {
			waker
			All int64 `json:"all_wakers"`
		}
		wakers, err := readRows[wakerRow](w.ctx, db, `SELECT "function", thread_name AS thread, waker_function, waker_thread_name AS waker, sum(waits)::BIGINT AS waits, sum(wait_ns)::BIGINT AS wait_ns,
  count(DISTINCT experiment_id) AS experiments, count(*) OVER () AS all_wakers
FROM wakers GROUP BY ALL ORDER BY wait_ns DESC, "function", thread, waker_function, waker LIMIT $1`, max(limit, 1))
		if err != nil {
			return err
		}
		for _, r := range wakers {
			a.WakerCount = r.All
			a.Wakers = append(a.Wakers, r.waker)
		}
	}
	if err := w.readConflicts(db, &a); err != nil {
		return err
	}
	return w.writeExact(a)
}

// readConflicts reads deadlocks and data races.
func (w *job) readConflicts(db *queries.DB, a *locksAnswer) (err error) {
	const conflicts = `WITH wanted AS (
  SELECT c.*, s.process, s.thread_id, s.time_ns, k.stack_id FROM %s c JOIN samples s USING (experiment_id, sample)
  LEFT JOIN (FROM mode_stacks WHERE mode = $1) k ON k.experiment_id = s.experiment_id AND k.stack = s.stack
),
` + stackTexts + `,
named AS (
  SELECT experiment_id, process, thread_id, arg_max(thread_name, name_no) AS thread_name FROM thread_names GROUP BY ALL
),
told AS (
  SELECT c.*, e.experiment, n.thread_name, coalesce(t.stack, '') AS text
  FROM wanted c LEFT JOIN stack_texts t USING (experiment_id, stack_id) LEFT JOIN experiment_names e USING (experiment_id) LEFT JOIN named n USING (experiment_id, process, thread_id)
)
`
	if a.Deadlocks, err = readRows[lockEvent](w.ctx, db, fmt.Sprintf(conflicts, "deadlock_samples")+`SELECT experiment, deadlock, process, thread_id AS thread, thread_name, time_ns AS "at",
  '0x' || lower(to_hex(address)) AS address, lock_type, type, text AS stack FROM told ORDER BY experiment, deadlock, process, thread, time_ns, sample`, a.Mode); err != nil {
		return err
	}
	a.Races, err = readRows[raceAccess](w.ctx, db, fmt.Sprintf(conflicts, "race_samples")+`SELECT experiment, race, thread_id AS thread, thread_name, '0x' || lower(to_hex(address)) AS address, type,
  sum(accesses)::BIGINT AS accesses, text AS stack FROM told GROUP BY ALL ORDER BY experiment, race, accesses DESC, thread, text`, a.Mode)
	return err
}
