package export

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strconv"
	"time"
)

// firefoxVersion is the version of the format that is written. Later versions of Firefox's profiler convert it.
const firefoxVersion = 48

// firefoxWriter writes a profile for Firefox's profiler. Each thread has its samples, with times, and its own tables
// of stacks, frames, functions and strings.
type firefoxWriter struct {
	*selection
	out         *bufio.Writer // an error is kept until the final Flush
	threads     int
	started     time.Time
	libs        []*object
	libNumbers  map[[3]string]int // index into libs, by path, name and build-id
	firstThread map[int32]int64   // by process: the result of firstThreads
}

func writeFirefox(ctx context.Context, s *selection, w io.Writer) error {
	list, err := s.experiments(ctx)
	if err != nil {
		return err
	}
	f := &firefoxWriter{selection: s, out: bufio.NewWriter(w), libNumbers: map[[3]string]int{}}
	s.setTitle(list)
	fmt.Fprint(f.out, `{"threads":[`)
	for _, e := range list {
		if f.started.IsZero() || !e.started.IsZero() && e.started.Before(f.started) {
			f.started = e.started
		}
		p := newExperimentGroup([]*experiment{e})
		if err := p.read(ctx, s.on); err != nil {
			return err
		}
		if f.firstThread, err = s.firstThreads(ctx, p.cond); err != nil {
			return err
		}
		t, err := s.timed(ctx, e, p.cond)
		if err != nil {
			return err
		}
		if err := t.each(f.thread); err != nil {
			return err
		}
		p.release()
	}
	f.end()
	return f.out.Flush()
}

func (f *firefoxWriter) thread(e *experiment, t *timedThread) error {
	if f.threads++; f.threads > 1 {
		_ = f.out.WriteByte(',')
	}
	p := e.processes[t.process]
	name := t.label()
	if f.multiple {
		name = e.name + " " + name
	}
	fmt.Fprintf(f.out, `{"processType":"default","processName":%s,"processStartupTime":0,"processShutdownTime":null,"registerTime":0,"unregisterTime":null,"pausedRanges":[],`+
		`"name":%s,"isMainThread":%t,"pid":"%d","tid":%d,`, toJSON(cmp.Or(p.program, e.name)), toJSON(name), t.thread == p.pid || f.firstThread[t.process] == t.thread, p.pid, t.thread)
	return newFirefoxTables(f, e, t).write()
}

// column writes a list of n JSON values.
func (f *firefoxWriter) column(name string, n int, value func(int) string) {
	fmt.Fprintf(f.out, `"%s":[`, name)
	for i := range n {
		if i > 0 {
			_ = f.out.WriteByte(',')
		}
		_, _ = f.out.WriteString(value(i))
	}
	_, _ = f.out.WriteString("],")
}

// addressIDs is larger than any thread id of Linux (PID_MAX_LIMIT); larger ids are addresses of threads (gprofng).
const addressIDs = 1 << 22

// firstThreads returns, by process, the thread that was sampled first, if the thread ids of the process are
// addresses. Otherwise, the main thread is the one whose id is the pid (studio-experiment 3).
func (s *selection) firstThreads(ctx context.Context, cond string) (map[int32]int64, error) {
	first := map[int32]int64{}
	var process int32
	var thread int64
	err := scan(ctx, s.on, fmt.Sprintf("SELECT process, arg_min(thread_id, (time_ns, sample)) FROM samples WHERE %s GROUP BY process HAVING min(thread_id) > %d", cond, addressIDs), func() error {
		first[process] = thread
		return nil
	}, &process, &thread)
	return first, err
}

// lib returns the index of a load object in libs.
func (f *firefoxWriter) lib(o *object) int {
	of := [3]string{o.path, o.name, o.buildID}
	n, ok := f.libNumbers[of]
	if !ok {
		n = len(f.libs)
		f.libNumbers[of] = n
		f.libs = append(f.libs, o)
	}
	return n
}

// end writes what all threads share, and ends the profile.
func (f *firefoxWriter) end() {
	libs := make([]any, len(f.libs))
	for i, o := range f.libs {
		at := cmp.Or(o.path, o.name)
		var codeID *string
		if o.buildID != "" {
			codeID = &o.buildID
		}
		libs[i] = map[string]any{"arch": "", "name": path.Base(at), "path": at, "debugName": path.Base(at), "debugPath": at, "breakpadId": "", "codeId": codeID}
	}
	start := 0.0
	if !f.started.IsZero() {
		start = float64(f.started.UnixMicro()) / 1e3
	}
	meta := map[string]any{
		"version": 29, "preprocessedProfileVersion": firefoxVersion, "processType": 0, "product": f.heading(), "stackwalk": 1, "debug": false, "interval": 1, "startTime": start,
		"symbolicated": true, "importedFrom": "stackmill, " + f.metrics[0].name + ", " + f.mode + " mode", "markerSchema": []any{},
		"categories": []any{map[string]any{"name": "Other", "color": "grey", "subcategories": []string{"Other"}}},
	}
	fmt.Fprintf(f.out, "],\"libs\":%s,\"meta\":%s}\n", toJSON(libs), toJSON(meta))
}

// toJSON encodes a value that consists of strings and numbers.
func toJSON(v any) []byte {
	data, _ := json.Marshal(v) // cannot fail
	return data
}

// milliseconds writes nanoseconds as milliseconds, in JSON.
func milliseconds(ns int64) string { return strconv.FormatFloat(float64(ns)/1e6, 'f', -1, 64) }
