package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
)

// Recording is a rebuilt recording.
type Recording struct {
	*decode.Recording
	// Late are problems of later stages that a second run of these stages would not find.
	Late []diagnostic.Problem
	// Unwound says that some stacks were unwound from stack dumps. The store does not have the
	// dumps.
	Unwound bool

	forms []decode.Form
}

// ErrIncomplete reports that a store lacks a part of the recording.
var ErrIncomplete = errors.New("the store lacks a part of the recording")

// OpenProgram rebuilds the recording without its stacks and events: only the mappings.
func OpenProgram(tables schema.TableReader) (*Recording, error) {
	var w *recordingContent
	var parts []processContent
	err := schema.EachBatch(tables(schema.Recordings, 0, schema.AllRows, "part", "content"), func(c *schema.Columns) error {
		numbers, contents := c.Int32s(0), c.Texts(1)
		for i := range c.N {
			var err error
			if numbers[i] == 0 {
				w = &recordingContent{}
				err = json.Unmarshal([]byte(contents(i)), w)
			} else {
				parts = append(parts, processContent{})
				err = json.Unmarshal([]byte(contents(i)), &parts[len(parts)-1])
			}
			if err != nil {
				return fmt.Errorf("table recordings: part %d: %w", numbers[i], err)
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case w == nil || len(parts) != w.Processes:
		return nil, ErrIncomplete
	}
	r := w.recording()
	for i := range parts {
		p, err := parts[i].process()
		if err != nil {
			return nil, fmt.Errorf("table recordings: part %d: %w", parts[i].Number, err)
		}
		r.Processes = append(r.Processes, p)
	}
	return r, nil
}

// Open rebuilds the recording.
func Open(tables schema.TableReader) (*Recording, error) {
	r, err := OpenProgram(tables)
	if err != nil {
		return nil, err
	}
	if r.IOFiles, err = ioFiles(tables); err != nil {
		return nil, err
	}
	if err := r.threadNames(tables); err != nil {
		return nil, err
	}
	if err := r.overview(tables); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(r.Processes, func(p *decode.Process) bool { return p.Has(schema.Wait) }) {
		r.ThreadStates = func(pass func(*decode.ThreadState) error) error { return threadStates(tables, pass) }
	}
	if err := r.counts(tables); err != nil {
		return nil, err
	}
	if err := errors.Join(r.eventFields(tables), r.gaps(tables)); err != nil {
		return nil, err
	}
	raw, err := readStacks(tables, r)
	if err != nil {
		return nil, err
	}
	return r, r.indexSamples(tables, raw)
}

func (w *recordingContent) recording() *Recording {
	rec := &decode.Recording{
		Format: w.Format, Version: w.Version, Collector: w.Collector, Host: w.Host, OS: w.OS, Arch: w.Arch,
		Comment: w.Comment, CPUs: w.CPUs, ClockMHz: w.ClockMHz, PageSize: w.PageSize, CacheLine: w.CacheLine, WordBits: w.WordBits,
		Started: w.Started, Began: w.Began, Kernel: w.Kernel, Clock: w.Clock, CGroups: w.CGroups, FromStore: true,
		Locate: func(string) []decode.Candidate { return nil },
		Close:  func() error { return nil },
	}
	for _, p := range w.Problems {
		rec.Problems.Add(p)
	}
	r := &Recording{Recording: rec, Late: w.Late, forms: w.Forms}
	for i := range w.Forms {
		r.Unwound = r.Unwound || w.Forms[i].Callers == decode.CallersUnwound
	}
	return r
}

func (c *processContent) process() (*decode.Process, error) {
	p := &decode.Process{
		Number: c.Number, Lineage: c.Lineage, Shared: c.Shared, PID: c.PID, PPID: c.PPID,
		Target: c.Target, Command: c.Command, Directory: c.Directory, StartNS: c.StartNS, DurationNS: c.DurationNS,
		Closed: c.Closed, Kinds: c.Kinds, Counters: c.Counters, JITDumps: c.JITDumps,
		JavaMethods: c.JavaMethods, JavaThreads: c.JavaThreads,
		Records: func(schema.Kind) int64 { return 0 },
	}
	if c.Stacks {
		p.Stacks = &decode.Stacks{}
	}
	var err error
	if p.Mappings, err = c.events(c.Image); err == nil {
		p.DataMappings, err = c.events(c.Data)
	}
	return p, err
}

func (c *processContent) events(list []mapContent) ([]decode.MapEvent, error) {
	if len(list) == 0 {
		return nil, nil
	}
	events := make([]decode.MapEvent, len(list))
	for i, m := range list {
		if m.File < 0 || m.File >= len(c.Files) || m.Code < 0 || m.Code > len(c.Codes) {
			return nil, errors.New("a mapping refers to a file or code that is missing")
		}
		f := &c.Files[m.File]
		events[i] = decode.MapEvent{
			Unmap: m.Unmap, Time: m.Time, Address: m.Address, Size: m.Size, FileOffset: m.FileOffset, Modes: m.Modes,
			Checksum: f.Checksum, BuildID: f.BuildID, ByPath: f.ByPath, Ambiguous: f.Ambiguous, File: f.ID, Path: string(f.Path),
		}
		if m.Code > 0 {
			events[i].Code = &c.Codes[m.Code-1]
		}
	}
	return events, nil
}

func ioFiles(tables schema.TableReader) (files []decode.IOFile, err error) {
	err = schema.EachBatch(tables(schema.IOFiles, 0, schema.AllRows, "file", "process", "name", "file_system"), func(c *schema.Columns) error {
		numbers, processes, names, systems := c.Int32s(0), c.Int32s(1), c.Texts(2), c.Texts(3)
		for i := range c.N {
			files = append(files, decode.IOFile{Number: numbers[i], Process: int(processes[i]), Name: names(i), FileSystem: systems(i)})
		}
		return nil
	})
	return files, err
}

// threadStates passes the states of threads.
func threadStates(tables schema.TableReader, pass func(*decode.ThreadState) error) error {
	columns := []string{"process", "thread_id", "t0_ns", "t1_ns", "state", "cpu", "wait_sample", "waker_thread_id", "waker_sample", "border"}
	return schema.EachBatch(tables(schema.ThreadStates, 0, schema.AllRows, columns...), func(c *schema.Columns) error {
		processes, threads, from, until, states, cpus := c.Int32s(0), c.Int64s(1), c.Int64s(2), c.Int64s(3), c.Texts(4), c.Int32s(5)
		waits, wakers, wakeups, borders := c.Int64s(6), c.Int64s(7), c.Int64s(8), c.Texts(9)
		for i := range c.N {
			s := decode.ThreadState{ThreadID: threads[i], FromNS: from[i], UntilNS: until[i], State: slices.Index(schema.StateNames, states(i)), Border: slices.Index(schema.BorderNames, borders(i)), CPU: -1, WaitSample: -1, WakerThread: -1, WakerSample: -1}
			if c.Has(0, i) {
				s.Process = int(processes[i])
			}
			if c.Has(5, i) {
				s.CPU = cpus[i]
			}
			for column, to := range map[int]*int64{6: &s.WaitSample, 7: &s.WakerThread, 8: &s.WakerSample} {
				if c.Has(column, i) {
					*to = [][]int64{waits, wakers, wakeups}[column-6][i]
				}
			}
			if err := pass(&s); err != nil {
				return err
			}
		}
		return nil
	})
}

// counts makes the counts of perf stat readable, if there are any.
func (r *Recording) counts(tables schema.TableReader) error {
	return schema.EachBatch(tables(schema.Counts, 0, schema.AllRows, "interval_no"), func(*schema.Columns) error {
		r.Counts = func(pass func(*decode.Count) error) error { return eachCount(tables, pass) }
		return nil
	})
}

// eachCount passes the counts of perf stat.
func eachCount(tables schema.TableReader, pass func(*decode.Count) error) error {
	columns := []string{"interval_no", "t0_ns", "t1_ns", "event", "cpu", "thread_id", "thread_name", "value", "enabled_ns", "running_ns", "unit", "scale"}
	return schema.EachBatch(tables(schema.Counts, 0, schema.AllRows, columns...), func(c *schema.Columns) error {
		numbers, from, until, events, cpus, threads, names := c.Int32s(0), c.Int64s(1), c.Int64s(2), c.Texts(3), c.Int32s(4), c.Int64s(5), c.Texts(6)
		values, enabled, running, units, scales := c.Int64s(7), c.Int64s(8), c.Int64s(9), c.Texts(10), c.Texts(11)
		for i := range c.N {
			n := decode.Count{Interval: int(numbers[i]), FromNS: from[i], UntilNS: until[i], Event: events(i), CPU: -1, ThreadID: -1, Counted: c.Has(7, i), EnabledNS: -1, RunningNS: -1, Unit: units(i), Scale: scales(i)}
			if c.Has(4, i) {
				n.CPU = cpus[i]
			}
			if c.Has(5, i) {
				n.ThreadID = threads[i]
			}
			if c.Has(6, i) {
				n.ThreadName = names(i)
			}
			if n.Counted {
				n.Value = values[i]
			}
			if c.Has(8, i) {
				n.EnabledNS, n.RunningNS = enabled[i], running[i]
			}
			if err := pass(&n); err != nil {
				return err
			}
		}
		return nil
	})
}

// gaps fills in the periods in which events may be missing.
func (r *Recording) gaps(tables schema.TableReader) error {
	return schema.EachBatch(tables(schema.RecordingGaps, 0, schema.AllRows, "t0_ns", "t1_ns", "cpu", "reason"), func(c *schema.Columns) error {
		from, until, cpus, reasons := c.Int64s(0), c.Int64s(1), c.Int32s(2), c.Texts(3)
		for i := range c.N {
			g := decode.RecordingGap{FromNS: from[i], UntilNS: until[i], CPU: -1, Reason: slices.Index(schema.GapReasons, reasons(i))}
			if c.Has(2, i) {
				g.CPU = cpus[i]
			}
			r.Gaps = append(r.Gaps, g)
		}
		return nil
	})
}

// threadNames fills in the names of threads.
func (r *Recording) threadNames(tables schema.TableReader) error {
	names := map[int32][]decode.ThreadName{}
	err := schema.EachBatch(tables(schema.ThreadNames, 0, schema.AllRows, "process", "thread_id", "name_no", "thread_name", "from_ns", "until_ns"), func(c *schema.Columns) error {
		processes, threads, numbers, texts, from, until := c.Int32s(0), c.Int64s(1), c.Int32s(2), c.Texts(3), c.Int64s(4), c.Int64s(5)
		for i := range c.N {
			n := decode.ThreadName{ThreadID: threads[i], Number: numbers[i], Name: texts(i), FromNS: from[i], UntilNS: decode.Never}
			if c.Has(5, i) {
				n.UntilNS = until[i]
			}
			names[processes[i]] = append(names[processes[i]], n)
		}
		return nil
	})
	for _, p := range r.Processes {
		p.ThreadNames = names[int32(p.Number)]
	}
	return err
}

// overview fills in the processes' resource usage.
func (r *Recording) overview(tables schema.TableReader) error {
	names := []string{"process", "label", "t0_ns", "t1_ns"}
	first := len(names)
	for _, n := range schema.OverviewTimes {
		names = append(names, n+"_ns")
	}
	names = append(names, schema.OverviewCounts...)
	rows := map[int32][]decode.OverviewRow{}
	err := schema.EachBatch(tables(schema.Overview, 0, schema.AllRows, names...), func(c *schema.Columns) error {
		processes, labels, from, to := c.Int32s(0), c.Texts(1), c.Int64s(2), c.Int64s(3)
		values := make([][]int64, len(names)-first)
		for i := range values {
			values[i] = c.Int64s(first + i)
		}
		for i := range c.N {
			o := decode.OverviewRow{Label: labels(i), T0NS: from[i], T1NS: to[i]}
			for n, v := range values {
				if n < len(schema.OverviewTimes) {
					o.Times = append(o.Times, v[i])
				} else {
					o.Counts = append(o.Counts, v[i])
				}
			}
			rows[processes[i]] = append(rows[processes[i]], o)
		}
		return nil
	})
	for _, p := range r.Processes {
		p.Overview = rows[int32(p.Number)]
	}
	return err
}
