// Package gprofng reads the experiments of gprofng and Oracle Developer Studio: `.er` directories
// and `.erg` group files. Comments cite the sections of docs/formats/gprofng-experiment.md and
// studio-experiment.md as `gprofng-experiment 3.1`.
//
// Start reading with Decoder.Open, then experiment.go, maps.go and frameinfo.go; events.go
// reads the samples.
package gprofng

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stackmill/internal/safefile"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/decode/mmap"
)

// Decoder reads gprofng experiments. The zero value is ready to use.
type Decoder struct{}

var _ decode.Decoder = (*Decoder)(nil)

// New returns a decoder.
func New() *Decoder { return &Decoder{} }

// Name returns `gprofng`.
func (d *Decoder) Name() string { return "gprofng" }

// Detect reports whether path is an experiment or a group file. Every name ending in `.er` counts
// as an experiment; if it is not a directory, Open reports that.
func (d *Decoder) Detect(path string) bool {
	if isExperimentName(filepath.Base(filepath.Clean(path))) {
		_, err := os.Stat(path)
		return err == nil
	}
	return isGroup(path)
}

// isExperimentName reports whether a base name is the name of an experiment (gprofng-experiment
// 1.1).
func isExperimentName(base string) bool {
	return len(base) >= len("x.er") && strings.HasSuffix(base, ".er")
}

func isGroup(path string) bool {
	f, _, err := safefile.Open(path, safefile.Log)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(groupHeader))
	_, err = io.ReadFull(f, head)
	return err == nil && bytes.Equal(head, []byte(groupHeader))
}

// Open reads an experiment and its descendants: logs, maps and stacks. It indexes the event files
// in one sequential pass.
func (d *Decoder) Open(ctx context.Context, path string) *decode.Recording {
	rec := &decode.Recording{
		Format: d.Name(),
		Locate: func(string) []decode.Candidate { return nil },
		Close:  func() error { return nil },
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		rec.Problems.Addf(diagnostic.Error, filepath.Base(path), diagnostic.NoOffset, "not-found", "the experiment cannot be read: %v", err)
		return rec
	case !info.IsDir():
		rec.Problems.Addf(diagnostic.Error, filepath.Base(path), diagnostic.NoOffset, "not-a-directory", "an experiment is a directory, this is a file of %d bytes", info.Size())
		return rec
	}
	in, err := folderOf(path)
	if err != nil {
		rec.Problems.Addf(diagnostic.Error, filepath.Base(path), diagnostic.NoOffset, "unreadable", "the experiment cannot be read: %v", cause(err))
		return rec
	}
	if log, err := safefile.Stat(filepath.Join(path, logFile)); err == nil { // the collector writes its last line at the end
		rec.FileTime = log.ModTime()
	}
	o := &opener{ctx: ctx, rec: rec, path: path, folder: in}
	o.open()
	rec.Locate = locator(path, in)
	rec.Close = o.close
	return rec
}

// opener opens the processes of one recording.
type opener struct {
	ctx     context.Context
	rec     *decode.Recording
	path    string
	folder  folder
	founder *experiment
	mapped  []*mmap.File
	unused  unusedLog
	// announced lists the lineages of the descendants that the logs announce.
	announced []string
}

// maxDescendants is the maximum number of descendants that are looked up.
const maxDescendants = 1 << 16

func (o *opener) announce(lineage string) {
	if len(o.announced) < maxDescendants {
		o.announced = append(o.announced, lineage)
	}
}

func (o *opener) open() {
	o.founder = o.load("", 1, "")
	if o.founder != nil {
		o.describe(o.founder)
	}
	names, err := descendants(o.path)
	if err != nil && !o.rec.KeepHostError(err) {
		o.rec.Problems.Addf(diagnostic.Error, "", diagnostic.NoOffset, "unreadable", "descendants cannot be listed: %v", err)
	}
	number := 2
	for _, name := range names {
		if !o.hasData(name) {
			continue
		}
		if e := o.load(name, number, strings.TrimSuffix(name, ".er")); e != nil && o.founder == nil {
			o.describe(e)
		}
		number++
	}
	o.inheritTargets()
	if !isDescendant(o.path) {
		o.judgeDescendants(names)
	}
	o.judgeArchives()
	o.unused.report(&o.rec.Problems)
}

// hasData reports whether a descendant has stacks or events. A descendant without data is not
// opened (gprofng-experiment 1.2).
func (o *opener) hasData(name string) bool {
	for i, f := range append([]string{framesFile}, eventFiles[:]...) {
		size, err := o.folder.size(filepath.Join(o.path, name, f))
		if size > 0 || err != nil && (i == 0 || !errors.Is(err, fs.ErrNotExist)) {
			return true
		}
	}
	o.rec.Problems.Addf(diagnostic.Info, name, diagnostic.NoOffset, "descendant-without-data", "the descendant recorded no call stacks and no events; it is left out")
	return false
}

// load opens a process and adds it to the recording; nil if it has no data.
func (o *opener) load(sub string, number int, lineage string) *experiment {
	e := &experiment{
		dir:      filepath.Join(o.path, sub),
		sub:      sub,
		problems: &o.rec.Problems,
		process:  &decode.Process{Number: number, Lineage: lineage},
		opener:   o,
	}
	if !e.open() {
		return nil
	}
	o.rec.Processes = append(o.rec.Processes, e.process)
	return e
}

// describe fills in the facts about the recording from e, the founder.
func (o *opener) describe(e *experiment) {
	o.founder = e
	l, r := &e.log, o.rec
	r.Version, r.Collector = l.version, l.collector
	r.Host, r.OS, r.Arch = l.host, l.os, l.arch
	r.CPUs, r.ClockMHz, r.PageSize = l.cpus, l.clockMHz, l.pageSize
	r.WordBits = 8 * e.wordBytes
	if l.wall != 0 {
		r.Started = time.Unix(l.wall, 0).UTC()
		r.Began = began(r.Started, filepath.Join(e.dir, logFile))
	}
}

// began returns the latest possible start of a recording whose log has only whole seconds. If the
// log was last modified within that second, the modification time is more precise.
func began(second time.Time, log string) time.Time {
	latest := second.Add(time.Second - 1)
	if info, err := safefile.Stat(log); err == nil && info.ModTime().After(second) && info.ModTime().Before(latest) {
		return info.ModTime().UTC()
	}
	return latest
}

// inheritTargets gives forked children the name of their parent's program, since their logs only
// say `(fork)`.
func (o *opener) inheritTargets() {
	targets := map[string]string{}
	for _, p := range o.rec.Processes {
		if p.Target == "" {
			p.Target = targets[parentLineage(p.Lineage)]
		}
		targets[p.Lineage] = p.Target
	}
}

func parentLineage(lineage string) string {
	return lineage[:max(0, strings.LastIndexByte(lineage, '_'))]
}

func (o *opener) close() error {
	var errs []error
	for _, m := range o.mapped {
		errs = append(errs, m.Unmap())
	}
	o.mapped = nil
	return errors.Join(errs...)
}
