package main

import (
	"bufio"
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"stackmill/cmd/acceptance/perftext"
)

// sampleRow is a sample as stackmill or perf shows it. A field is "" or 0 if the recording lacks
// it.
type sampleRow struct {
	process, thread, cpu, time, pc, period int64
	mode, event, name, object, function    string
	buildID                                string // of the load object
	aliases                                string // of the function
}

// order compares samples by the fields that identify the same sample on both sides.
func order(a, b *sampleRow) int {
	return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.thread, b.thread), cmp.Compare(a.period, b.period),
		cmp.Compare(a.cpu, b.cpu), cmp.Compare(a.process, b.process))
}

// parts are the fields that `perf script` is asked for, in the order in which it prints them, with
// the patterns of their text.
var parts = []struct{ field, form string }{
	{"comm", `(?P<name>.*?)\s+`}, {"pid", `(?P<process>-?\d+)/`}, {"tid", `(?P<thread>-?\d+)\s+`}, {"cpu", `\[(?P<cpu>-?\d+)\]\s+`},
	{"misc", `(?:(?P<mode>[A-Za-z]+)\s+)?`}, {"time", `(?P<seconds>\d+)\.(?P<fraction>\d{9}):\s+`}, {"period", `(?P<period>\d+)\s+`}, {"event", `(?P<event>\S.*?):\s*`},
	{"ip", `(?:(?P<pc>[0-9a-f]+)(?:\s(?P<function>.*?)(?:\s\((?P<object>[/[].*|[^()]*)\))?)?)?`}, {"sym", ""}, {"dso", ""},
}

// lineOf returns the pattern of a line of `perf script` with these fields.
func lineOf(ask []string) *regexp.Regexp {
	form := `^\s*`
	for _, p := range parts {
		if slices.Contains(ask, p.field) {
			form += p.form
		}
	}
	return regexp.MustCompile(form + `\s*$`)
}

var lacking = regexp.MustCompile(`Cannot print '(\w+)' field`)

// script returns all samples as perf shows them. ask lists the fields that perf can show for this
// recording.
func (r *result) script(p *program, file string) (list []sampleRow, ask []string, err error) {
	for _, p := range parts {
		ask = append(ask, p.field)
	}
	for {
		args := []string{"--buildid-dir", cmp.Or(p.symbols, os.DevNull), "script", "-i", file, "-f", "-G", "--ns", "--no-inline", "--kallsyms", os.DevNull, "-F", strings.Join(ask, ",")}
		cmd := exec.CommandContext(p.ctx, "perf", args...)
		var out, complaints bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &complaints
		began := time.Now()
		err := cmd.Run()
		r.theirs = spentBy(cmd, began)
		if m := lacking.FindStringSubmatch(complaints.String()); m != nil && err != nil {
			n := len(ask)
			ask = slices.DeleteFunc(ask, func(f string) bool { return f == m[1] || m[1] == "ip" && (f == "sym" || f == "dso") })
			if len(ask) == n {
				return nil, nil, fmt.Errorf("perf script: %s", bytes.TrimSpace(complaints.Bytes()))
			}
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("perf script: %w: %s", err, bytes.TrimSpace(complaints.Bytes()))
		}
		list, err = samplesIn(&out, ask)
		return list, ask, err
	}
}

func samplesIn(out *bytes.Buffer, ask []string) (list []sampleRow, err error) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	form := lineOf(ask)
	for lines.Scan() {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		m := form.FindStringSubmatch(lines.Text())
		if m == nil {
			return nil, fmt.Errorf("perf script: no sample: %q", lines.Text())
		}
		var s sampleRow
		for n, name := range form.SubexpNames() {
			number, _ := strconv.ParseInt(m[n], 10, 64)
			switch name {
			case "process":
				s.process = number
			case "thread":
				s.thread = number
			case "cpu":
				s.cpu = number
			case "seconds":
				s.time += number * int64(time.Second)
			case "fraction":
				s.time += number
			case "period":
				s.period = number
			case "pc":
				pc, _ := strconv.ParseUint(m[n], 16, 64)
				s.pc = int64(pc)
			case "mode":
				s.mode = m[n]
			case "name":
				s.name = m[n]
			case "event":
				s.event = m[n]
			case "object":
				s.object = m[n]
			case "function":
				s.function = m[n]
			}
		}
		list = append(list, s)
	}
	return list, lines.Err()
}

// samplesSQL selects all samples, with the leaf of the recorded stack, to which no rule was
// applied.
const samplesSQL = `SELECT p.event AS event, p.value::VARCHAR AS period, s.thread_id AS thread, coalesce(s.cpu, 0) AS cpu, s.time_ns::VARCHAR AS time,
		coalesce(s.thread_name, '') AS name, coalesce(q.pid, 0) AS process, coalesce(t.word, 0)::VARCHAR AS pc,
		coalesce(o.path, '') AS path, coalesce(o.name, '') AS object, coalesce(f.perf_name, '') AS function, coalesce(f.aliases, '') AS aliases, coalesce(o.build_id, '') AS build_id
	FROM perf_samples p JOIN samples_wide s USING (experiment_id, sample)
	LEFT JOIN processes q USING (experiment_id, process)
	LEFT JOIN recorded_stacks r USING (experiment_id, stack)
	LEFT JOIN stack_tree n USING (experiment_id, node)
	LEFT JOIN tree_frames t USING (experiment_id, frame)
	LEFT JOIN locations l USING (experiment_id, location)
	LEFT JOIN functions_wide f USING (experiment_id, function_no)
	LEFT JOIN load_objects o ON o.experiment_id = l.experiment_id AND o.load_object_id = l.load_object_id`

// stored returns all samples as they are in the store.
func (r *result) stored(p *program) (list []sampleRow, err error) {
	var rows []struct {
		Event, Name, Path, Object, Function, Aliases string
		Time, PC, Period                             string // as text: they may exceed the numbers of JSON
		Process, Thread, CPU                         int64
		BuildID                                      string `json:"build_id"`
	}
	if err := p.query(samplesSQL, &rows); err != nil {
		return nil, err
	}
	for _, row := range rows {
		number := func(text string) int64 {
			n, parsed := strconv.ParseInt(text, 10, 64)
			err = errors.Join(err, parsed)
			return n
		}
		list = append(list, sampleRow{process: row.Process, thread: row.Thread, cpu: row.CPU,
			time: number(row.Time), pc: number(row.PC), period: number(row.Period), event: row.Event, name: strings.TrimSpace(row.Name), object: cmp.Or(row.Path, row.Object), function: row.Function, aliases: row.Aliases, buildID: row.BuildID})
	}
	return list, err
}

// comparePerf compares all samples with perf's. Their number, threads, times, addresses and periods
// must be equal. Events, thread names, load objects and functions are compared sample by sample,
// and also the sums by event.
func (r *result) comparePerf(p *program, work string) error {
	file, err := older(r.path, filepath.Join(work, "older"))
	if err != nil {
		return err
	}
	theirs, ask, err := r.script(p, file)
	if err != nil {
		r.peer = err.Error()
		return nil
	}
	ours, err := r.stored(p)
	if err != nil {
		return err
	}
	for _, list := range [][]sampleRow{ours, theirs} {
		align(list, ask)
	}
	for _, f := range []string{"period", "ip", "time"} {
		if !slices.Contains(ask, f) {
			r.remark(len(theirs), "perf script cannot show the field %s of all events", f)
		}
	}
	c := &comparison{result: r, file: file, symbols: p.symbols, wrong: map[string]int{}}
	for i, k := 0, 0; i < len(ours) || k < len(theirs); {
		switch side(ours, theirs, i, k) {
		case -1:
			if o := objectName(ours[i].object); o == "guest" || o == "hypervisor" {
				r.remark(1, "samples of virtual machines, which perf script leaves out")
			} else {
				r.differ("a sample that perf does not show: %+v", ours[i])
			}
			i++
		case 1:
			r.differ("a sample of perf's is missing: %+v", theirs[k])
			k++
		default:
			c.sample(&ours[i], &theirs[k], slices.Contains(ask, "ip"))
			i, k = i+1, k+1
		}
	}
	for _, what := range slices.Sorted(maps.Keys(c.wrong)) {
		r.differ("%s: %d samples", what, c.wrong[what])
	}
	return nil
}

// comparison compares the samples that stackmill and perf both show.
type comparison struct {
	*result
	file    string         // the recording, or a copy that perf can read
	symbols string         // folder with a build-id cache; "": none
	ranges  []kernelRange  // mappings of the kernel and its modules; nil: not read yet
	wrong   map[string]int // differences without a known cause, and the number of samples that have them
}

// sample compares a sample with perf's. addresses says whether both show addresses.
func (c *comparison) sample(ours, theirs *sampleRow, addresses bool) {
	c.equal("event", ours, theirs, ours.event, theirs.event)
	c.equal("thread name", ours, theirs, ours.name, theirs.name)
	if !addresses {
		return
	}
	if ours.pc != theirs.pc {
		c.equal("address", ours, theirs, fmt.Sprintf("%#x", uint64(ours.pc)), fmt.Sprintf("%#x", uint64(theirs.pc)))
		return
	}
	if c.equal("load object", ours, theirs, objectName(ours.object), objectName(theirs.object)) {
		c.equal("function", ours, theirs, functionName(ours.function), functionName(theirs.function))
	}
}

func (c *comparison) equal(what string, ours, theirs *sampleRow, our, their string) bool {
	if our == their {
		return true
	}
	if name := c.nameOf(what, ours, theirs, our, their); name != "" {
		c.remark(1, "%s", name)
	} else {
		c.wrong[fmt.Sprintf("%s %q, perf shows %q", what, our, their)]++
	}
	return false
}

// align sets fields to 0 that perf cannot show, makes times relative to the first sample, and sorts
// the samples.
func align(list []sampleRow, ask []string) {
	var first int64
	for i := range list {
		if i == 0 || list[i].time < first {
			first = list[i].time
		}
	}
	for i := range list {
		s := &list[i]
		if s.time -= first; !slices.Contains(ask, "time") {
			s.time = 0
		}
		if !slices.Contains(ask, "period") {
			s.period = 0
		}
		if !slices.Contains(ask, "cpu") {
			s.cpu = 0
		}
		if !slices.Contains(ask, "ip") {
			s.pc = 0
		}
	}
	slices.SortStableFunc(list, func(a, b sampleRow) int { return cmp.Or(order(&a, &b), cmp.Compare(a.pc, b.pc)) })
}

// side compares ours[i] with theirs[k] by order: -1 if only we have the sample, 1 if only perf has
// it, 0 if both do. A list that is at its end has no sample.
func side(ours, theirs []sampleRow, i, k int) int {
	switch {
	case i == len(ours):
		return 1
	case k == len(theirs):
		return -1
	}
	return order(&ours[i], &theirs[k])
}

// nameOf returns the known cause of a difference, or "" if there is none.
func (c *comparison) nameOf(what string, ours, theirs *sampleRow, our, their string) string {
	inKernel := theirs.pc < 0
	switch what {
	case "address":
		if theirs.pc == 0 {
			return "perf shows the address 0 where only the chain has one"
		}
	case "event":
		if strings.HasPrefix(c.collector, "simpleperf") {
			return "simpleperf's names of events"
		}
	case "thread name":
		switch {
		case our == "" && strings.HasPrefix(their, ":"):
			return "perf writes :TID where no name was recorded"
		case our == "" && their == "swapper" && theirs.process != 0:
			return "perf takes threads without a number for the idle thread"
		}
	case "load object":
		switch {
		case their == "[unknown]" && (inKernel && theirs.mode == "U" || !inKernel && theirs.mode == "K"):
			return "precise addresses on the other side of the border between user code and kernel, for which perf does not look"
		case our == "[kernel]" && their == "[unknown]":
			return "kernel code outside of the recorded mappings of the kernel"
		case our == "[unknown]" && madeAtRunTime.MatchString(their):
			return "memory without a file"
		case our == "[unknown]" && strings.HasSuffix(theirs.object, " (deleted)"):
			return "files that were deleted: their code counts as generated"
		case inKernel && c.begins(our, theirs.pc) > c.begins(their, theirs.pc):
			return "recorded mappings of the kernel overlap: perf takes one that begins before"
		}
	case "function":
		switch {
		case our == "[unknown]" && isHere(theirs.object):
			return "perf believes a file of this machine, or its vdso, that has no recorded build-id"
		case their == "[unknown]" && c.compressed(ours.buildID):
			return "functions of compressed symbol tables (.gnu_debugdata), which perf does not read"
		case strings.HasSuffix(our, " "+their):
			return "templates whose return types perf leaves out"
		case strings.HasSuffix(our, "@plt"):
			return "code in procedure linkage tables, where perf names fewer entries"
		case slices.Contains(strings.Split(ours.aliases, "\t"), their):
			return "functions with several names"
		}
	}
	return ""
}

// compressed reports whether the copy of a load object in the build-id cache has a compressed
// symbol table.
func (c *comparison) compressed(buildID string) bool {
	if c.symbols == "" || len(buildID) < 3 {
		return false
	}
	f, err := elf.Open(filepath.Join(c.symbols, ".build-id", buildID[:2], buildID[2:], "elf"))
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Section(".gnu_debugdata") != nil
}

// isHere reports whether this machine has the file of a load object at the recorded path.
func isHere(name string) bool {
	_, err := os.Stat(name)
	return err == nil || name == "[vdso]"
}

// madeAtRunTime matches the names that perf gives to memory without a file.
var madeAtRunTime = regexp.MustCompile(`^(//anon|anon|heap|stack.*|dalvik.*|perf-\d+\.map)$`)

// kernelRange is a recorded mapping of the kernel, of a kernel module, or of code that the kernel
// generated.
type kernelRange struct {
	start, size uint64
	name        string
}

// begins returns the start of the mapping of a load object that contains pc, or 0 if none is known.
func (c *comparison) begins(object string, pc int64) (start uint64) {
	if c.ranges == nil {
		out, err := exec.Command("perf", "script", "-f", "-i", c.file, "--show-mmap-events", "--show-bpf-events").Output()
		if err != nil {
			return 0 // no cause is known then
		}
		for _, form := range []*regexp.Regexp{kernelMapping, kernelCode} {
			for _, m := range form.FindAllSubmatch(out, -1) {
				start, _ := strconv.ParseUint(string(m[1]), 16, 64)
				size, _ := strconv.ParseUint(string(m[2]), 0, 64)
				c.ranges = append(c.ranges, kernelRange{start, size, objectName(string(m[3]))})
			}
		}
	}
	if object == "[kernel]" { // the kernel is known, even if perf does not show where it begins
		start = 1
	}
	for _, m := range c.ranges {
		if m.name == object && uint64(pc)-m.start < m.size {
			start = max(start, m.start)
		}
	}
	return start
}

// Patterns of kernel mappings as perf prints them.
var (
	kernelMapping = regexp.MustCompile(`(?m)PERF_RECORD_MMAP -1/\d+: \[(?:0x)?([0-9a-f]+)\((0x[0-9a-f]+)\) @ \S+\]: \S+ (.*)$`)
	kernelCode    = regexp.MustCompile(`(?m)PERF_RECORD_KSYMBOL addr ([0-9a-f]+) len (\d+) .* name (\S+)$`)
)

// objectName returns the name of a load object in a form that is the same on both sides.
func objectName(name string) string {
	name = strings.TrimSuffix(name, " (deleted)")
	switch {
	case name == "" || name == "[unknown]" || strings.HasPrefix(name, "<"):
		return "[unknown]"
	case strings.HasPrefix(name, "[kernel"), strings.HasPrefix(name, "[guest.kernel"), strings.HasPrefix(path.Base(name), "vmlinux"):
		return "[kernel]"
	}
	name = strings.Trim(path.Base(name), "[]")
	if strings.Contains(name, ".ko") || !strings.Contains(name, ".") {
		name = strings.ReplaceAll(name, "-", "_") // modules are named `a_b`, and their files `a-b`
	}
	for _, end := range []string{".xz", ".gz", ".zst", ".ko"} {
		name = strings.TrimSuffix(name, end)
	}
	return name
}

// functionName returns the name of a function in a form that is the same on both sides.
func functionName(name string) string {
	if name == "" || name == "[unknown]" || strings.HasPrefix(name, "<") {
		return "[unknown]"
	}
	return perftext.Bare(name)
}
