package gprofng

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stackmill/internal/hosterr"
	"stackmill/internal/safefile"
	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/decode/bounds"
	"stackmill/stages/decode/mmap"
)

// experiment is an experiment directory: the recording of one process.
type experiment struct {
	opener   *opener
	dir      string
	sub      string // directory name inside the founder; empty for the founder
	process  *decode.Process
	problems *diagnostic.Log

	log       recordedLog
	order     byteOrder
	wordBytes int
	events    [kinds]*eventFile
	names     threadNames
	stacks    *stackTable
	mapped    bool // it has a map of the address space
}

// report records a problem of a file of this experiment.
func (e *experiment) report(s diagnostic.Severity, file string, offset int64, reason, format string, args ...any) {
	e.reporter(file)(s, offset, reason, fmt.Sprintf(format, args...), 1)
}

// reporter returns a function that reports problems of a binary file.
func (e *experiment) reporter(file string) reporter {
	return func(s diagnostic.Severity, offset int64, reason, message string, count int64) {
		e.problems.Add(diagnostic.Problem{
			Severity: s, Process: e.process.Number, File: filepath.Join(e.sub, file), Offset: offset,
			Reason: reason, Message: message, Count: count,
		})
	}
}

// open reads the experiment. It returns false if the data cannot be used.
func (e *experiment) open() bool {
	e.log = recordedLog{samples: -1, labels: map[int64]string{}, layouts: map[uint16]*layout{}}
	maps := &mapReader{e: e}
	e.text(warningsFile, func(in io.Reader, size int64) { e.readLog(warningsFile, in, size, maps) })
	end := int64(0)
	if !e.text(logFile, func(in io.Reader, size int64) { end = e.readLog(logFile, in, size, maps) }) {
		e.report(diagnostic.Error, logFile, diagnostic.NoOffset, "missing-file", "the experiment has no log")
		return false
	}
	if e.log.refused {
		return false
	}
	if !e.log.running {
		e.report(diagnostic.Error, logFile, end, "not-started", "the log does not say that the program was started")
		return false
	}
	e.order = byteOrder{big: !littleEndian[e.log.arch]}
	e.wordBytes = e.log.wordBytes()
	e.fillProcess()
	e.readImage(maps)
	e.readStacks()
	e.readEvents()
	e.readRest()
	e.noteFiles()
	e.judge()
	return true
}

// file opens a file. It returns false if the file is missing or unreadable; an unreadable file is
// reported.
func (e *experiment) file(name string, limit int64) (f *os.File, size int64, ok bool) {
	path, err := e.opener.folder.resolve(filepath.Join(e.dir, name))
	var info fs.FileInfo
	if err == nil {
		f, info, err = safefile.Open(path, limit)
	}
	if err != nil {
		e.unreadable(name, err)
		return nil, 0, false
	}
	return f, info.Size(), true
}

// unreadable reports why an existing file cannot be read, or keeps a host error.
func (e *experiment) unreadable(file string, err error) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case hosterr.Is(err):
		e.opener.rec.HostErr.Add(fmt.Errorf("%s: %w", filepath.Join(e.sub, file), err))
	}
	e.report(diagnostic.Error, file, diagnostic.NoOffset, "unreadable", "%v", cause(err))
}

// text passes a text file to f. It returns false if the file is missing or unreadable.
func (e *experiment) text(file string, f func(in io.Reader, size int64)) bool {
	in, size, ok := e.file(file, safefile.Log)
	if !ok {
		return false
	}
	defer in.Close()
	f(hosterr.NewReader(e.opener.ctx, in), size)
	return true
}

// shift returns the process's start, relative to the founder's: added to a time from the process's
// start, it gives the time from the founder's start.
func (e *experiment) shift() int64 { return e.process.StartNS }

func (e *experiment) fillProcess() {
	p, l := e.process, &e.log
	e.settleStart()
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
	p.ThreadNames, e.names = namesOf(p.JavaThreads)
}

// judgeTick drops a clock interval that is longer than the experiment, which is impossible.
func (e *experiment) judgeTick() {
	facts, _ := e.facts()
	for i := range e.log.kinds {
		k := &e.log.kinds[i]
		if most := facts.length(); k.Kind == schema.Clock && k.TickNS > most {
			var left bounds.Outliers
			left.Add("the interval of the clock profile", " ns", e.log.clockAt, k.TickNS, 0, most)
			left.Report(e.reporter(logFile))
			k.TickNS = 0
		}
	}
}

// readImage reads map.xml and dyntext.
func (e *experiment) readImage(maps *mapReader) {
	e.mapped = e.text(mapFile, func(in io.Reader, size int64) { e.readMap(in, size, maps) })
	maps.settleModes()
	e.view(dyntextFile, func(m *mmap.File) { e.readDyntext(m.Data, maps.events) })
	for i := range maps.events {
		m := &maps.events[i]
		m.Time += e.shift()
		if m.Code == nil && m.Modes&modeExecute != 0 && decode.IsGenerated(m.Path, false) {
			m.SetGenerated(e.log.pid)
		}
	}
	e.process.Mappings = maps.events
}

// readStacks reads data.frameinfo.
func (e *experiment) readStacks() {
	e.stacks = newStackTable(0)
	e.view(framesFile, func(m *mmap.File) {
		report := e.reporter(framesFile)
		frames := readFrames(m.Data, e.order, e.wordBytes, e.blocks(), m.Release, report)
		e.stacks = frames.resolve(len(m.Data), report)
		if frames.states > 0 {
			e.opener.unused.add(unusedRecord, framesFile, "the state of MPI", frames.states)
		}
	})
}

// view passes a file to f and unmaps it afterwards. It returns false if the file is missing.
func (e *experiment) view(file string, f func(m *mmap.File)) bool {
	m, ok := e.mapFile(file)
	if !ok {
		return false
	}
	if err := m.Guard(func() { f(m) }); err != nil {
		e.unreadable(file, err)
	}
	m.Unmap()
	return true
}

// mapFile maps a file. It returns false if the file is missing or unreadable; an unreadable file is
// reported.
func (e *experiment) mapFile(file string) (*mmap.File, bool) {
	path, err := e.opener.folder.resolve(filepath.Join(e.dir, file))
	var m *mmap.File
	if err == nil {
		m, err = mmap.Open(e.opener.ctx, path, filepath.Join(e.sub, file))
	}
	if err != nil {
		e.unreadable(file, err)
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
			e.unreadable(file, err)
			m.Unmap()
			continue
		}
		e.opener.mapped = append(e.opener.mapped, m)
	}
	e.process.Stacks = e.stacks.stacks
	e.process.Events = e.reader
	e.process.Records = func(k schema.Kind) int64 {
		if k >= kinds || e.events[k] == nil {
			return 0
		}
		return e.events[k].packets
	}
}

func (e *experiment) openEvents(kind schema.Kind, file string, m *mmap.File) error {
	f := &eventFile{File: m, kind: kind, order: e.order, stacks: e.stacks, eventTimes: eventTimes{ended: bounds.Add(e.log.start, e.log.lastTime)}}
	info, _ := e.log.kindInfo(kind)
	f.oneState = info.States == 1 // only clock profiles have states
	report := e.reporter(file)
	r := newPacketReader(m.Data, e.order, e.blocks(), func(s diagnostic.Severity, offset int64, reason, message string, count int64) {
		f.damaged = f.damaged || s == diagnostic.Error
		report(s, offset, reason, message, count)
	})
	r.release, r.blocks.closed = m.Release, e.log.closed
	for _, typ := range kindTypes[kind] {
		l := e.log.layouts[typ]
		if l == nil || l.fields["TSTAMP"].width == 0 {
			continue
		}
		f.layouts[typ], f.checks[typ] = l, l.checks()
		r.types[typ] = packetType{described: true, variable: len(l.text) > 0, need: l.need, why: l.check(e.order), thread: l.fields["THRID"], time: l.fields["TSTAMP"]}
	}
	if err := m.Guard(func() { e.indexEvents(f, r) }); err != nil {
		return err
	}
	f.outliers.Report(report)
	e.events[kind] = f
	r.reportUnknown(kindTypes[kind])
	for typ, l := range f.layouts {
		if l == nil || f.packets == 0 {
			continue
		}
		e.noteFields(f, l)
		if names := l.lacks(); len(names) > 0 {
			e.report(diagnostic.Error, logFile, diagnostic.NoOffset, "incomplete-layout", "packets of type %d, in %s, are described without %s: these values are unknown", typ, file, strings.Join(names, ", "))
		}
	}
	if f.missing > 0 {
		report(diagnostic.Error, diagnostic.NoOffset, reasonMissingStack, "events refer to call stacks that are not recorded", f.missing)
	}
	return nil
}

// reader implements decode.Process.Events.
func (e *experiment) reader(kind schema.Kind, columns ...string) decode.EventReader {
	if kind >= kinds || e.events[kind] == nil {
		return &eventReader{}
	}
	f := e.events[kind]
	return newEventReader(f, e.names, e.log.start-e.shift(), columns)
}

// readRest reads the small files that depend on the log.
func (e *experiment) readRest() {
	if !e.view(overviewFile, func(m *mmap.File) { e.process.Overview = e.readOverview(m.Data, e.log.start-e.shift(), m.Release) }) {
		e.report(diagnostic.Info, overviewFile, diagnostic.NoOffset, "missing-file", "there is no overview of the resources used")
	}
	if n := len(e.process.Overview); n > 0 {
		e.process.DurationNS = max(e.process.DurationNS, e.process.Overview[n-1].T1NS-e.shift())
	}
	e.view(classesFile, func(m *mmap.File) { e.process.JavaMethods = e.readClasses(m.Data, m.Release) })
}
