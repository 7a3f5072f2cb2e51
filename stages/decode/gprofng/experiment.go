package gprofng

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"stackmill/problem"
	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/decode/bounds"
	"stackmill/stages/decode/mapped"
)

// experiment is one experiment directory: a process.
type experiment struct {
	opener   *opener
	dir      string
	sub      string // name inside the founder; empty for the founder
	process  *decode.Process
	problems *problem.Log

	log       recordedLog
	order     byteOrder
	wordBytes int
	events    [kinds]*eventFile
	stacks    *stackTable
}

// report records a problem of a file of this experiment.
func (e *experiment) report(s problem.Severity, file string, offset int64, reason, format string, args ...any) {
	e.reporter(file)(s, offset, reason, fmt.Sprintf(format, args...), 1)
}

// reporter returns report for the readers of one binary file.
func (e *experiment) reporter(file string) reporter {
	return func(s problem.Severity, offset int64, reason, message string, count int64) {
		e.problems.Add(problem.Problem{
			Severity: s, Process: e.process.Number, File: filepath.Join(e.sub, file), Offset: offset,
			Reason: reason, Message: message, Count: count,
		})
	}
}

// open reads the experiment; false when its data cannot be used.
func (e *experiment) open() bool {
	e.log = recordedLog{labels: map[int64]string{}, layouts: map[uint16]*layout{}}
	maps := &mapReader{e: e}
	if data, ok := e.read(warningsFile); ok {
		e.readLog(warningsFile, data, maps)
	}
	data, ok := e.read(logFile)
	if !ok {
		e.report(problem.Error, logFile, problem.NoOffset, "missing-file", "the experiment has no log")
		return false
	}
	e.readLog(logFile, data, maps)
	if e.log.refused {
		return false
	}
	if !e.log.running {
		e.report(problem.Error, logFile, int64(len(data)), "not-started", "the log does not say that the program was started")
		return false
	}
	e.order = byteOrder{big: !littleEndian[e.log.arch]}
	e.wordBytes = e.log.wordBytes()
	e.fillProcess()
	e.readImage(maps)
	e.readStacks()
	e.readEvents()
	e.readRest()
	e.judge()
	return true
}

// read reads a whole file; false when it is not there or unreadable, which is
// a problem only in the latter case.
func (e *experiment) read(file string) ([]byte, bool) {
	path := filepath.Join(e.dir, file)
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		e.report(problem.Error, file, problem.NoOffset, "unreadable", "%v", err)
	}
	return data, err == nil
}

// shift is what is added to times relative to this process's start.
func (e *experiment) shift() int64 { return e.process.StartNS }

func (e *experiment) fillProcess() {
	p, l := e.process, &e.log
	if founder := e.opener.founder; founder != nil && l.start != 0 && founder.log.start != 0 {
		p.StartNS = l.start - founder.log.start
	}
	p.PID, p.PPID = l.pid, l.ppid
	p.Target, p.Command, p.Directory = l.target, l.command, l.directory
	p.Closed = l.closed
	e.judgeTick()
	p.Kinds, p.Counters = l.kinds, l.counters
	p.DurationNS = l.lastTime
	p.JavaThreads = l.javaThreads(e.shift())
}

// judgeTick leaves out a clock interval that is longer than the experiment: no tick
// would have come.
func (e *experiment) judgeTick() {
	facts, _ := e.facts()
	for i := range e.log.kinds {
		k := &e.log.kinds[i]
		if most := facts.length(); k.Kind == schema.Clock && k.TickNS > most {
			var left bounds.Left
			left.Out("the interval of the clock profile", " ns", e.log.clockAt, k.TickNS, 0, most)
			left.Report(e.reporter(logFile))
			k.TickNS = 0
		}
	}
}

// readImage reads map.xml and dyntext.
func (e *experiment) readImage(maps *mapReader) {
	if data, ok := e.read(mapFile); !ok {
		e.report(problem.Error, mapFile, problem.NoOffset, "missing-file", "the experiment has no map of the address space: no address can be resolved")
	} else {
		e.readMap(data, maps)
		if len(maps.events) == 0 {
			e.report(problem.Error, mapFile, 0, "empty-file", "the map of the address space is empty: no address can be resolved")
		}
	}
	if data, ok := e.read(dyntextFile); ok {
		e.readDyntext(data, maps.events)
	}
	for i := range maps.events {
		m := &maps.events[i]
		m.Time += e.shift()
		if m.Code == nil && m.Modes&4 != 0 && decode.IsGenerated(m.Path, false) {
			m.Generated(e.log.pid)
		}
	}
	e.process.Image = maps.events
}

// readStacks reads data.frameinfo.
func (e *experiment) readStacks() {
	e.stacks = newStackTable(0)
	m, ok := e.mapFile(framesFile)
	if !ok {
		return
	}
	err := m.Guard(func() {
		report := e.reporter(framesFile)
		frames := readFrames(m.Data, e.order, e.wordBytes, m.Release, report)
		e.stacks = frames.resolve(len(m.Data), report)
	})
	if err != nil {
		e.report(problem.Error, framesFile, problem.NoOffset, "unreadable", "%v", err)
	}
	m.Unmap()
}

// mapFile maps a file; false when it is not there, or unreadable, which is reported.
func (e *experiment) mapFile(file string) (*mapped.File, bool) {
	m, err := mapped.Open(e.opener.ctx, filepath.Join(e.dir, file), filepath.Join(e.sub, file))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		e.report(problem.Error, file, problem.NoOffset, "unreadable", "%v", err)
	}
	return m, err == nil
}

// readEvents opens and indexes the event files.
func (e *experiment) readEvents() {
	for kind := range e.events {
		file := eventFiles[kind]
		m, ok := e.mapFile(file)
		if !ok {
			continue
		}
		if err := e.openEvents(schema.Kind(kind), file, m); err != nil {
			e.report(problem.Error, file, problem.NoOffset, "unreadable", "%v", err)
			m.Unmap()
			continue
		}
		e.opener.mapped = append(e.opener.mapped, m)
	}
	e.process.Stacks = e.stacks.raw
	e.process.Events = e.reader
	e.process.Records = func(k schema.Kind) int64 {
		if k >= kinds || e.events[k] == nil {
			return 0
		}
		return e.events[k].packets
	}
}

func (e *experiment) openEvents(kind schema.Kind, file string, m *mapped.File) error {
	f := &eventFile{File: m, kind: kind, order: e.order, stacks: e.stacks}
	report := e.reporter(file)
	r := &packetReader{data: m.Data, order: e.order, report: func(s problem.Severity, offset int64, reason, message string, count int64) {
		f.damaged = f.damaged || s == problem.Error
		report(s, offset, reason, message, count)
	}}
	for _, typ := range kindTypes[kind] {
		l := e.log.layouts[typ]
		if l == nil || l.fields["TSTAMP"].width == 0 {
			continue
		}
		f.layouts[typ], f.checks[typ] = l, l.checks()
		r.types[typ] = packetType{described: true, variable: len(l.text) > 0, need: l.need, why: l.check(e.order)}
	}
	if err := m.Guard(func() { e.indexEvents(f, r) }); err != nil {
		return err
	}
	f.left.Report(report)
	e.events[kind] = f
	r.reportUnknown(kindTypes[kind])
	if f.missing > 0 {
		report(problem.Error, problem.NoOffset, reasonMissingStack, "events refer to call stacks that are not recorded", f.missing)
	}
	return nil
}

// reader is decode.Process.Events.
func (e *experiment) reader(kind schema.Kind) decode.EventReader {
	if kind >= kinds || e.events[kind] == nil {
		return &eventReader{}
	}
	f := e.events[kind]
	return newEventReader(f, e.opener.alloc, e.log.start-e.shift())
}

// readRest reads what is small and needs the log.
func (e *experiment) readRest() {
	if data, ok := e.read(overviewFile); ok {
		e.process.Overview = e.readOverview(data, e.log.start-e.shift())
		if n := len(e.process.Overview); n > 0 {
			e.process.DurationNS = max(e.process.DurationNS, e.process.Overview[n-1].T1NS-e.shift())
		}
	} else {
		e.report(problem.Info, overviewFile, problem.NoOffset, "missing-file", "there is no overview of the resources used")
	}
	if data, ok := e.read(classesFile); ok {
		e.process.JavaMethods = e.readClasses(data)
	}
}
