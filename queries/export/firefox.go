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

// firefoxVersion is the version of the format that is written, which later versions of the
// profiler upgrade.
const firefoxVersion = 48

// firefox writes a profile as Firefox's profiler keeps them, thread by thread: each has its
// samples with their times, and its own tables of stacks, frames, functions and texts.
type firefox struct {
	*selection
	out     *bufio.Writer // whose last error is asked for at the end
	threads int
	started time.Time
	libs    []*object
	numbers map[[3]string]int // of libs, by path, name and build-id
	first   map[int32]int64   // as firstThreads returns them
}

func writeFirefox(ctx context.Context, s *selection, w io.Writer) error {
	list, err := s.described(ctx)
	if err != nil {
		return err
	}
	f := &firefox{selection: s, out: bufio.NewWriter(w), numbers: map[[3]string]int{}}
	s.entitle(list)
	fmt.Fprint(f.out, `{"threads":[`)
	for _, e := range list {
		if f.started.IsZero() || !e.started.IsZero() && e.started.Before(f.started) {
			f.started = e.started
		}
		p := newPart([]*experiment{e})
		if err := p.read(ctx, s.on); err != nil {
			return err
		}
		if f.first, err = s.firstThreads(ctx, p.cond); err != nil {
			return err
		}
		t, err := s.timed(ctx, e, p.cond)
		if err != nil {
			return err
		}
		if err := t.each(f.thread); err != nil {
			return err
		}
		p.forget()
	}
	f.end()
	return f.out.Flush()
}

// thread writes a thread.
func (f *firefox) thread(e *experiment, t *timedThread) error {
	if f.threads++; f.threads > 1 {
		_ = f.out.WriteByte(',')
	}
	p := e.processes[t.process]
	name := t.label()
	if f.many {
		name = e.name + " " + name
	}
	fmt.Fprintf(f.out, `{"processType":"default","processName":%s,"processStartupTime":0,"processShutdownTime":null,"registerTime":0,"unregisterTime":null,"pausedRanges":[],`+
		`"name":%s,"isMainThread":%t,"pid":"%d","tid":%d,`, text(cmp.Or(p.program, e.name)), text(name), t.thread == p.pid || f.first[t.process] == t.thread, p.pid, t.thread)
	return newFirefoxTables(f, e, t).write(f.out)
}

// addressIDs is above every thread's number in Linux (PID_MAX_LIMIT).
const addressIDs = 1 << 22

// firstThreads returns the thread of each process that appears first, for processes whose
// threads have addresses as ids: none of these is the pid, which the main thread has else
// (studio-experiment 3).
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

// lib returns the number of a load object.
func (f *firefox) lib(o *object) int {
	of := [3]string{o.path, o.name, o.buildID}
	n, ok := f.numbers[of]
	if !ok {
		n = len(f.libs)
		f.numbers[of] = n
		f.libs = append(f.libs, o)
	}
	return n
}

// end writes what all threads share.
func (f *firefox) end() {
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
	fmt.Fprintf(f.out, "],\"libs\":%s,\"meta\":%s}\n", encoded(libs), encoded(meta))
}

// encoded is a value of texts and numbers as JSON.
func encoded(v any) []byte {
	data, _ := json.Marshal(v) // which does not fail
	return data
}

// milliseconds is a time in ns as JSON.
func milliseconds(ns int64) string { return strconv.FormatFloat(float64(ns)/1e6, 'f', -1, 64) }
