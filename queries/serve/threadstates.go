package serve

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/queries"
	"stackmill/queries/result"
	"stackmill/queries/timerange"
	"stackmill/schema"
)

// Limits of an answer about thread states. What is left out is counted in it.
const (
	maxTimelines       = 5    // number of experiments
	defaultLanes       = 40   // number of threads
	maxLanes           = 500  // number of threads
	defaultIntervals   = 500  // number of intervals of the shown time
	maxIntervals       = 5000 // number of intervals of the shown time
	maxStateSums       = maxLanes * defaultIntervals
	maxTime            = 1 << 60 // ns, so that sums of two times fit in 64 bits
	periodsForInterval = 20      // the answer has the periods themselves if there are at most so many per interval
)

// stateLabels are the states in an answer: those of thread_states, and for unknown ones the border, if there is one.
// stateNumber is SQL for their index.
var (
	stateLabels = slices.Concat(schema.StateNames, []string{"start", "end", "loss", "chain"})
	stateNumber = "(coalesce(list_position([" + queries.Quote(stateLabels...) + "], IF(state = 'unknown' AND border <> '', border, state)), 1) - 1)::INTEGER"
)

// threadTimeline has the states of an experiment's threads in a range of time. Times are from the founder's start.
type threadTimeline struct {
	ExperimentID string      `json:"experiment_id"`
	Experiment   string      `json:"experiment"`
	Start        int64       `json:"t0_ns"` // start of the first period
	End          int64       `json:"t1_ns"` // end of the last period
	From         int64       `json:"from_ns"`
	Until        int64       `json:"until_ns"` // end of the shown time
	Exact        bool        `json:"exact"`    // whether pieces are the periods of thread_states; otherwise sums by interval
	Width        int64       `json:"width_ns"` // length of an interval; 1 if exact
	Threads      int64       `json:"threads"`  // threads with states in the shown time
	Total        []int64     `json:"total"`    // ns by state, of all these threads
	Lanes        []stateLane `json:"lanes"`    // the threads that are shown, the busiest first
	Pieces       statePieces `json:"pieces"`

	lanes map[laneKey]int32
	sums  [][]int64 // ns by lane and by interval * len(stateLabels) + state; nil if exact
}

// stateLane is a thread with its times in the shown time.
type stateLane struct {
	Process *int64  `json:"process"`
	PID     *int64  `json:"pid"`
	Thread  int64   `json:"thread_id"`
	Name    *string `json:"thread_name"`
	Periods int64   `json:"periods"`
	Times   []int64 `json:"ns"` // time in each state
}

// statePiece is the time of a thread in one state in the intervals from <= interval < until, which are counted from the
// start of the shown time.
type statePiece struct {
	lane, state     int32
	from, until, ns int64
	waker           int64 // the thread that ended the period; -1: not known, or a sum
}

// statePieces are pieces, ordered by lane and time.
type statePieces []statePiece

// MarshalJSON writes a list for each property: that takes a fifth of the bytes of objects.
func (p statePieces) MarshalJSON() ([]byte, error) {
	columns := map[string][]int64{}
	for name, value := range map[string]func(*statePiece) int64{
		"lane": func(x *statePiece) int64 { return int64(x.lane) }, "state": func(x *statePiece) int64 { return int64(x.state) },
		"from": func(x *statePiece) int64 { return x.from }, "until": func(x *statePiece) int64 { return x.until },
		"ns": func(x *statePiece) int64 { return x.ns }, "waker": func(x *statePiece) int64 { return x.waker },
	} {
		column := make([]int64, len(p))
		for i := range p {
			column[i] = value(&p[i])
		}
		columns[name] = column
	}
	return json.Marshal(columns)
}

// laneKey identifies a thread of an experiment. The process is -1 if it is not known.
type laneKey struct{ process, thread int64 }

var errStates = errors.New("the thread states are damaged: their times are impossible (run stackmill check)")

// listThreadStates answers with the states of the busiest threads: all periods if there are few, otherwise the time in
// each state by interval, so that an answer is small however many periods there are.
func listThreadStates(w *job) error {
	var ask stateRequest
	var err error
	if ask.lanes, err = w.intValue("threads", defaultLanes); err != nil {
		return err
	}
	if ask.intervals, err = w.intValue("intervals", defaultIntervals); err != nil {
		return err
	}
	if ask.lanes > maxLanes || ask.intervals > maxIntervals || ask.intervals == 0 {
		return badRequest(fmt.Errorf("threads is at most %d and intervals from 1 to %d", maxLanes, maxIntervals))
	}
	if ask.lanes*ask.intervals > maxStateSums {
		return badRequest(fmt.Errorf("threads times intervals is at most %d", maxStateSums))
	}
	if ask.from, ask.until, err = shownTime(w.values.Get("time")); err != nil {
		return badRequest(err)
	}
	f, err := w.filter("user", false)
	if err != nil {
		return err
	}
	ask.threads, ask.pids = f.Threads, f.PIDs
	if ask.also, err = w.intValues("also"); err != nil {
		return err
	}
	db, done, err := w.open(queries.Filter{}, nil, w.values["experiment"]...)
	if err != nil {
		return err
	}
	defer done()
	ids, err := db.Texts(w.ctx, "SELECT experiment_id FROM experiment_names WHERE experiment_id IN (SELECT experiment_id FROM metrics WHERE metric = 'wall') ORDER BY experiment, experiment_id")
	if err != nil {
		return err
	}
	conn, err := db.Conn(w.ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	answer := struct {
		Experiments int               `json:"experiments"` // number of experiments with thread states
		States      []string          `json:"states"`
		Timelines   []*threadTimeline `json:"timelines"`
	}{len(ids), stateLabels, []*threadTimeline{}}
	for _, id := range ids[:min(len(ids), maxTimelines)] {
		t, err := ask.read(w.ctx, db, conn, id)
		if err != nil {
			return err
		}
		answer.Timelines = append(answer.Timelines, t)
	}
	return w.writeJSON(answer)
}

// shownTime parses a range of time: FROM,UNTIL from an experiment's start, where either may be left out.
func shownTime(text string) (from, until int64, err error) {
	from, until = math.MinInt64, math.MaxInt64
	if text == "" {
		return from, until, nil
	}
	first, second, ok := strings.Cut(text, ",")
	if !ok {
		return 0, 0, fmt.Errorf("time: %q is not FROM,UNTIL", text)
	}
	for _, end := range []struct {
		text string
		to   *int64
	}{{first, &from}, {second, &until}} {
		if end.text == "" {
			continue
		}
		p, err := timerange.Parse(end.text)
		if err == nil && p.Column != "time_ns" {
			err = fmt.Errorf("%q is not a time since the experiment's start (10s)", end.text)
		}
		if err != nil {
			return 0, 0, fmt.Errorf("time: %w", err)
		}
		*end.to = p.At
	}
	if from >= until {
		return 0, 0, fmt.Errorf("time: %q ends before it starts", text)
	}
	return from, until, nil
}

// stateRequest is a request for thread states.
type stateRequest struct {
	from, until   int64 // the shown time; the lowest and the highest int64 for all of it
	lanes         int   // maximum number of threads
	intervals     int
	threads, pids []int64 // only these, if there are any
	also          []int64 // threads that are shown in any case
}

// read returns the timeline of one experiment.
func (ask *stateRequest) read(ctx context.Context, db *queries.DB, conn *sql.Conn, id string) (*threadTimeline, error) {
	t := &threadTimeline{ExperimentID: id, Total: make([]int64, len(schema.StateNames)), Lanes: []stateLane{}, lanes: map[laneKey]int32{}}
	if err := ask.chooseLanes(ctx, db, t); err != nil {
		return nil, err
	}
	t.From, t.Until = max(ask.from, t.Start), min(ask.until, t.End)
	if t.Until <= t.From {
		t.From, t.Until = t.Start, t.Start
	}
	if t.Start < -maxTime || t.End > maxTime {
		return nil, errStates
	}
	periods := int64(0)
	for _, l := range t.Lanes {
		periods += l.Periods
	}
	t.Exact, t.Width = periods <= int64(periodsForInterval*ask.intervals), 1
	if !t.Exact {
		t.Width = (t.Until-t.From-1)/int64(ask.intervals) + 1
		t.sums = make([][]int64, len(t.Lanes))
		for i := range t.sums {
			t.sums[i] = make([]int64, ask.intervals*len(stateLabels))
		}
	}
	if len(t.Lanes) == 0 {
		return t, nil
	}
	ids := make([]int64, len(t.Lanes))
	for i, l := range t.Lanes {
		ids[i] = l.Thread
	}
	periodRows := fmt.Sprintf(`SELECT coalesce(process, -1)::BIGINT AS process, thread_id, greatest(t0_ns, %d) AS t0_ns, least(t1_ns, %d) AS t1_ns, %s AS state, coalesce(waker_thread_id, -1) AS waker
FROM thread_states WHERE experiment_id = ? AND %s AND t1_ns > %[1]d AND t0_ns < %[2]d`, t.From, t.Until, stateNumber, oneOf("thread_id", ids))
	if !t.Exact {
		// The periods of a state within an interval are summed: the first one, prolonged, stands for them.
		periodRows = fmt.Sprintf(`SELECT process, thread_id, min(t0_ns), IF(min(first) = min(last), min(t0_ns) + sum(t1_ns - t0_ns)::BIGINT, max(t1_ns)), state, -1::BIGINT
FROM (SELECT *, (t0_ns - %d) // %d AS first, (t1_ns - 1 - %[1]d) // %[2]d AS last FROM (%s)) GROUP BY process, thread_id, state, first, last`, t.From, t.Width, periodRows)
	}
	err := result.Batches(ctx, conn, func(b arrow.RecordBatch) error {
		t.add(b)
		return nil
	}, periodRows, id)
	if err != nil {
		return nil, err
	}
	for lane := range t.sums {
		t.cut(int32(lane))
	}
	t.sums = nil
	slices.SortStableFunc(t.Pieces, func(a, b statePiece) int {
		return cmp.Or(cmp.Compare(a.lane, b.lane), cmp.Compare(a.from, b.from))
	})
	return t, nil
}

// oneOf returns the SQL condition that a column has one of some values.
func oneOf(column string, of []int64) string {
	texts := make([]string, len(of))
	for i, n := range of {
		texts[i] = strconv.FormatInt(n, 10)
	}
	return column + " IN (" + strings.Join(texts, ", ") + ")"
}

// chooseLanes reads how long each thread was in each state, and chooses the threads that are shown.
func (ask *stateRequest) chooseLanes(ctx context.Context, db *queries.DB, t *threadTimeline) error {
	chosen, also := "true", "false"
	if len(ask.threads) > 0 {
		chosen = oneOf("thread_id", ask.threads)
	}
	if len(ask.pids) > 0 {
		chosen += " AND " + oneOf("pid", ask.pids)
	}
	if len(ask.also) > 0 {
		also = oneOf("thread_id", ask.also)
	}
	var sums, totals strings.Builder
	for i, s := range schema.StateNames {
		fmt.Fprintf(&sums, ", coalesce(sum(ns) FILTER (state = %s), 0)::BIGINT AS s%d", queries.Quote(s), i)
		fmt.Fprintf(&totals, ", (sum(s%d) OVER ())::BIGINT AS total%d", i, i)
	}
	const inside = "border NOT IN ('start', 'end')" // between the thread's first switch and its last one
	rows, err := db.Records(ctx, `WITH times AS (
  SELECT process, thread_id, state, count(*) FILTER (t1_ns > $2 AND t0_ns < $3 AND `+inside+`) AS periods, min(t0_ns) AS t0_ns, max(t1_ns) AS t1_ns,
    sum(greatest(least(t1_ns, $3) - greatest(t0_ns, $2), 0)) FILTER (`+inside+`) AS ns
  FROM thread_states WHERE experiment_id = $1 GROUP BY ALL
),
threads AS (
  SELECT process, thread_id, sum(periods)::BIGINT AS periods, min(t0_ns) FILTER (state <> 'unknown') AS t0_ns, max(t1_ns) FILTER (state <> 'unknown') AS t1_ns`+sums.String()+` FROM times GROUP BY ALL
),
known AS (
  SELECT t.*, p.pid, (min(t0_ns) OVER ())::BIGINT AS start, (max(t1_ns) OVER ())::BIGINT AS finish
  FROM threads t LEFT JOIN (SELECT process, any_value(pid) AS pid FROM processes WHERE experiment_id = $1 GROUP BY process) p USING (process)
),
shown AS (
  SELECT *, count(*) OVER () AS threads`+totals.String()+` FROM known WHERE periods > 0 AND (`+chosen+` OR `+also+`)
  ORDER BY `+also+` DESC, s1 DESC, periods DESC, thread_id, process LIMIT `+strconv.Itoa(max(ask.lanes, 1))+`
),
named AS (
  SELECT process, thread_id, arg_max(thread_name, name_no) AS thread_name FROM thread_names WHERE experiment_id = $1 GROUP BY ALL
)
SELECT e.experiment, s.*, n.thread_name, (SELECT any_value(start) FROM known) AS start, (SELECT any_value(finish) FROM known) AS finish
FROM (SELECT experiment FROM experiment_names WHERE experiment_id = $1) e LEFT JOIN (SELECT * EXCLUDE (start, finish) FROM shown) s ON true LEFT JOIN named n USING (process, thread_id)
ORDER BY s1 DESC, periods DESC, thread_id, process`, t.ExperimentID, ask.from, ask.until)
	if err != nil {
		return err
	}
	for _, r := range rows {
		t.Experiment, t.Start, t.End = r.Text("experiment"), r.Number("start"), r.Number("finish")
		if r["thread_id"] == nil { // no thread has states in this time
			continue
		}
		l := stateLane{Thread: r.Number("thread_id"), Periods: r.Number("periods"), Times: make([]int64, len(schema.StateNames))}
		t.Threads = r.Number("threads")
		for i := range schema.StateNames {
			l.Times[i], t.Total[i] = r.Number(fmt.Sprint("s", i)), r.Number(fmt.Sprint("total", i))
		}
		key := laneKey{-1, l.Thread}
		if r["process"] != nil {
			key.process = r.Number("process")
			l.Process = &key.process
		}
		if r["pid"] != nil {
			l.PID = new(r.Number("pid"))
		}
		if name, ok := r["thread_name"].(string); ok {
			l.Name = &name
		}
		t.lanes[key] = int32(len(t.Lanes))
		t.Lanes = append(t.Lanes, l)
	}
	return nil
}

// add adds periods to the pieces of their lanes, or to the sums of their intervals.
func (t *threadTimeline) add(b arrow.RecordBatch) {
	processes, threads, starts, ends, states, wakers := int64s(b, 0), int64s(b, 1), int64s(b, 2), int64s(b, 3), int32s(b, 4), int64s(b, 5)
	last, lane, known := laneKey{}, int32(0), false
	for i := range threads {
		if key := (laneKey{processes[i], threads[i]}); !known || key != last {
			if lane, known = t.lanes[key]; !known {
				continue
			}
			last = key
		}
		from, until := max(starts[i], t.From)-t.From, min(ends[i], t.Until)-t.From
		switch {
		case until <= from:
		case t.Exact:
			t.Pieces = append(t.Pieces, statePiece{lane, states[i], from, until, until - from, wakers[i]})
		default:
			sums, state := t.sums[lane], int64(states[i])
			for n := from / t.Width; from < until; n++ {
				end := min(until, (n+1)*t.Width)
				sums[n*int64(len(stateLabels))+state] += end - from
				from = end
			}
		}
	}
}

// cut turns the sums of a lane into pieces. Adjoining intervals that are wholly in one state are one piece.
func (t *threadTimeline) cut(lane int32) {
	var last *statePiece // the piece of the previous interval, if that is wholly in one state
	shown := t.Until - t.From
	for n := int64(0); n*t.Width < shown; n++ {
		width, before := min(t.Width, shown-n*t.Width), last
		last = nil
		for state, ns := range t.sums[lane][n*int64(len(stateLabels)):][:len(stateLabels)] {
			switch {
			case ns == 0:
			case ns == width && before != nil && before.state == int32(state):
				before.until, before.ns, last = n+1, before.ns+ns, before
			default:
				t.Pieces = append(t.Pieces, statePiece{lane, int32(state), n, n + 1, ns, -1})
				if ns == width {
					last = &t.Pieces[len(t.Pieces)-1]
				}
			}
		}
	}
}

// describeThreadState answers with the period in which a thread is at a point in time: its state, the stack with which
// it was switched out, and who woke it up. The answer is null if the thread has no state then.
func describeThreadState(w *job) error {
	at, err := w.intValues("at")
	if err != nil {
		return err
	}
	threads, err := w.intValues("thread")
	if err != nil {
		return err
	}
	process, err := w.intValues("process")
	if err != nil {
		return err
	}
	process = append(process, -1)
	db, done, err := w.open(queries.Filter{}, nil, w.values["experiment"]...)
	if err != nil {
		return err
	}
	defer done()
	if db.Count != 1 {
		return badRequest(fmt.Errorf("experiment selects %d experiments: a state is of one", db.Count))
	}
	var answer struct {
		Process *int64         `json:"process"`
		Thread  int64          `json:"thread_id"`
		Start   int64          `json:"t0_ns"`
		End     int64          `json:"t1_ns"`
		State   string         `json:"state"`
		Border  string         `json:"border"`
		CPU     *int64         `json:"cpu"`
		Wait    *sampledThread `json:"wait"`
		Waker   *sampledThread `json:"waker"`

		ByInterrupt bool `json:"by_interrupt"` // an interrupt ended the wait: no thread is the waker
	}
	var wait, waker, wakerThread sql.NullInt64
	err = db.QueryRowContext(w.ctx, `SELECT process, thread_id, t0_ns, t1_ns, state, border, cpu, wait_sample, waker_sample, waker_thread_id FROM thread_states
WHERE thread_id = ? AND (? < 0 OR coalesce(process, 0) = ?) AND t0_ns <= ? AND t1_ns > ? ORDER BY t0_ns DESC LIMIT 1`, threads[0], process[0], process[0], at[0], at[0]).Scan(
		&answer.Process, &answer.Thread, &answer.Start, &answer.End, &answer.State, &answer.Border, &answer.CPU, &wait, &waker, &wakerThread)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return w.writeJSON(nil)
	case err != nil:
		return err
	}
	mode := w.mode()
	if answer.Wait, err = readSampledThread(w.ctx, db, wait, mode); err != nil {
		return err
	}
	if answer.ByInterrupt, err = inInterrupt(w.ctx, db, waker); err != nil {
		return err
	}
	if answer.ByInterrupt {
		return w.writeJSON(answer)
	}
	if answer.Waker, err = readSampledThread(w.ctx, db, waker, mode); err != nil {
		return err
	}
	if answer.Waker == nil && wakerThread.Valid {
		answer.Waker = &sampledThread{Thread: wakerThread.Int64, Stack: []string{}}
	}
	return w.writeJSON(answer)
}

// inInterrupt reports whether a sample was taken in a hardware interrupt: bit 3 of common_flags. Its
// thread is the one that the interrupt found on the CPU.
func inInterrupt(ctx context.Context, db *queries.DB, sample sql.NullInt64) (in bool, err error) {
	err = db.QueryRowContext(ctx, `SELECT count(*) > 0 FROM perf_samples p
JOIN event_formats f ON f.experiment_id = p.experiment_id AND f.event = p.event AND f.field = 'common_flags'
JOIN event_fields v ON v.experiment_id = p.experiment_id AND v.sample = p.sample AND v.position = f.position
WHERE p.sample = ? AND v.sample = ? AND v.number & 8 <> 0`, sample, sample).Scan(&in)
	return in, err
}

// sampledThread is the thread of a sample, with its stack.
type sampledThread struct {
	Thread int64    `json:"thread_id"`
	Name   *string  `json:"thread_name"`
	At     *int64   `json:"time_ns"`
	Stack  []string `json:"stack"`  // functions, the leaf first
	Reason string   `json:"reason"` // why the stack is empty or cut
}

// readSampledThread returns the thread of a sample; nil if there is no sample. It reads the nodes of one stack, which
// takes much less time than the views of stacks.
func readSampledThread(ctx context.Context, db *queries.DB, sample sql.NullInt64, mode string) (*sampledThread, error) {
	if !sample.Valid {
		return nil, nil
	}
	s := &sampledThread{Stack: []string{}}
	var node sql.NullInt64
	var reason sql.NullString
	err := db.QueryRowContext(ctx, `SELECT s.thread_id, n.thread_name, s.time_ns, r.node - by_mode(?, r.user_up, r.expert_up, r.machine_up), r.reason
FROM (FROM samples WHERE sample = ?) s LEFT JOIN recorded_stacks r USING (experiment_id, stack)
LEFT JOIN thread_names n ON n.experiment_id = s.experiment_id AND n.process = s.process AND n.thread_id = s.thread_id AND n.name_no = s.name_no`,
		mode, sample.Int64).Scan(&s.Thread, &s.Name, &s.At, &node, &reason)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil || !node.Valid {
		return s, err
	}
	s.Reason = reason.String
	// The engine joins the few nodes of the stack first only if they are materialized.
	s.Stack, err = db.Texts(ctx, `WITH path AS MATERIALIZED (
  SELECT experiment_id, node, frame FROM stack_tree WHERE node <= $1 AND node + below >= $1
),
places AS MATERIALIZED (
  SELECT p.experiment_id, p.node, by_mode($2, f.user_location, f.expert_location, f.machine_location) AS location
  FROM tree_frames f JOIN path p USING (experiment_id, frame)
)
SELECT f.name FROM places p JOIN locations_wide l USING (experiment_id, location) JOIN functions f USING (experiment_id, function_id) ORDER BY p.node DESC`, node.Int64, mode)
	if s.Stack == nil {
		s.Stack = []string{}
	}
	return s, err
}
