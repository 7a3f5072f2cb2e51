package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"stackmill/schema"
)

// comparePprof exports the ingested profile and compares the export with the original, read by
// pprof's library. It compares each sample: its values, labels, and the functions of each frame
// with their names, files and lines, address and mapping. Then it compares the values of all
// functions, with and without inlined ones.
func (r *result) comparePprof(p *program, _ string) error {
	data, err := os.ReadFile(r.path)
	if err != nil {
		return err
	}
	want, err := profile.ParseData(data)
	if err != nil {
		r.peer = err.Error()
		return nil
	}
	r.expected(want)
	several := severalTimes(want)
	r.remark(displace(want, several), "which of a file's mappings a location without an address is in is not kept")
	frames := frameNumbers{}
	theirs, nameless := frames.samples(want), !named(want)
	out, err := p.run("export", "--as", "pprof", "-o", "-")
	if err != nil {
		if len(theirs) == 0 && strings.Contains(err.Error(), "no sample has a value") {
			r.remark(max(len(want.Sample), 1), "no sample has a value")
			return nil
		}
		return err
	}
	got, err := profile.Parse(bytes.NewReader(out))
	if err != nil {
		return err
	}
	remade(got)
	displace(got, several)
	r.about(got, want)
	if nameless {
		strip(got)
	}
	ours := frames.samples(got)
	compareSums(r, "sample", frames.differing(ours, theirs), frames.differing(theirs, ours))
	return r.compareFunctions(p, want, nameless)
}

// units are the units of time and size that stackmill converts to its own, with the factors.
var units = map[string]struct {
	name   string
	factor int64
}{
	"microseconds": {"nanoseconds", 1e3}, "milliseconds": {"nanoseconds", 1e6}, "seconds": {"nanoseconds", 1e9},
	"us": {"nanoseconds", 1e3}, "ms": {"nanoseconds", 1e6}, "s": {"nanoseconds", 1e9}, "ns": {"nanoseconds", 1}, "nanosecond": {"nanoseconds", 1},
	"kilobytes": {"bytes", 1 << 10}, "megabytes": {"bytes", 1 << 20}, "byte": {"bytes", 1}, "": {"count", 1},
}

// made matches names that stackmill gives to code without a function.
var made = regexp.MustCompile(`^<(Unknown|static|no stack).*>|^<static>@`)

type difference struct {
	reason string
	count  int
}

// changes counts how often a profile was changed for each reason.
type changes []difference

// note counts a change for a reason.
func (c *changes) note(reason string) {
	i := slices.IndexFunc(*c, func(d difference) bool { return d.reason == reason })
	if i < 0 {
		i = len(*c)
		*c = append(*c, difference{reason: reason})
	}
	(*c)[i].count++
}

// expected changes a profile into the one that a correct export of it would be. It records the
// changes as remarks.
func (r *result) expected(p *profile.Profile) {
	var c changes
	c.types(p)
	for _, s := range p.Sample {
		if !slices.ContainsFunc(s.Value, func(v int64) bool { return v != 0 }) {
			c.note("samples without values are left out")
		}
		s.Location = slices.DeleteFunc(s.Location, nowhere)
	}
	for _, l := range p.Location {
		c.mapping(l)
		c.lines(l)
	}
	for _, f := range p.Function {
		c.function(f)
	}
	for _, d := range c {
		r.remark(d.count, "%s", d.reason)
	}
}

// types gives sample types the names and units that stackmill uses.
func (c *changes) types(p *profile.Profile) {
	const renamed = "types of samples under another name"
	seen := map[string]int{}
	for i, t := range p.SampleType {
		if t.Type == "" {
			t.Type = "value"
			c.note(renamed)
		}
		if seen[t.Type]++; seen[t.Type] > 1 {
			t.Type = fmt.Sprintf("%s_%d", t.Type, seen[t.Type])
			c.note(renamed)
		}
		if u, known := units[t.Unit]; known && u.name != t.Unit {
			c.note("types of samples in another unit")
			t.Unit = u.name
			for _, s := range p.Sample {
				s.Value[i] *= u.factor
			}
		}
	}
}

// mapping removes what stackmill does not keep of a location's mapping and address.
func (c *changes) mapping(l *profile.Location) {
	if m := l.Mapping; m != nil {
		switch {
		case m.File == "" && m.BuildID == "":
			l.Mapping = nil
			c.note("mappings without a name are not kept, but the addresses are (of locations)")
		case m.File == "":
			m.File = "[" + m.BuildID + "]"
			c.note("mappings are named by their build-ids (of locations)")
		}
		if l.Address != 0 && l.Mapping != nil && (l.Address < m.Start || m.Limit != 0 && l.Address >= m.Limit) {
			l.Address = 0
			c.note("addresses outside their mapping are not kept")
		}
	}
	if l.Mapping == nil && l.Address >= schema.NoFileOffset {
		l.Address = 0
		c.note("addresses from 2^61 on without a mapping are not kept")
	}
}

// impossible is the reason for removing line numbers that a store cannot have.
const impossible = "lines with impossible numbers are unknown"

func possible(line int64) bool { return 0 <= line && line < 1<<31 }

// lines removes what stackmill does not keep of a location's lines.
func (c *changes) lines(l *profile.Location) {
	for i := range l.Line {
		line := &l.Line[i]
		if line.Line != 0 && line.Function.Filename == "" {
			line.Line = 0
			c.note("lines of functions without a file are unknown")
		}
		if line.Column != 0 {
			line.Column = 0
			c.note("columns of lines are not kept")
		}
		if !possible(line.Line) {
			line.Line = 0
			c.note(impossible)
		}
	}
	if len(l.Line) == 0 {
		c.note("locations without functions are given a name")
	}
}

// function gives a function the names that stackmill chooses.
func (c *changes) function(f *profile.Function) {
	if !possible(f.StartLine) {
		f.StartLine = 0
		c.note(impossible)
	}
	if f.Name == "" && f.SystemName == "" {
		f.Name = fmt.Sprintf("<function %d>", f.ID)
		c.note("functions without a name have a number")
	}
	f.Name, f.SystemName = cmp.Or(f.Name, f.SystemName), cmp.Or(f.SystemName, f.Name)
}

// remade removes from an exported profile what stackmill added.
func remade(p *profile.Profile) {
	for _, l := range p.Location {
		if slices.ContainsFunc(l.Line, func(of profile.Line) bool { return made.MatchString(of.Function.Name) }) {
			l.Line = nil
		}
	}
	for _, s := range p.Sample {
		s.Location = slices.DeleteFunc(s.Location, nowhere)
	}
}

// file identifies a mapping's file.
type file struct{ path, buildID string }

// severalTimes returns for each file of a mapping whether the profile has several mappings of it.
func severalTimes(p *profile.Profile) map[file]bool {
	mapped := map[file]bool{}
	for _, m := range p.Mapping {
		f := file{m.File, m.BuildID}
		_, before := mapped[f]
		mapped[f] = before
	}
	return mapped
}

// displace changes locations without an address whose file has several mappings: which mapping they
// are in is not kept, so it removes the mapping's addresses. It returns the number of these
// locations.
func displace(p *profile.Profile, several map[file]bool) (n int) {
	for _, l := range p.Location {
		if m := l.Mapping; m != nil && l.Address == 0 && several[file{m.File, m.BuildID}] {
			l.Mapping = &profile.Mapping{File: m.File, BuildID: m.BuildID}
			n++
		}
	}
	return n
}

// nowhere reports whether a location has no function, mapping or address.
func nowhere(l *profile.Location) bool { return len(l.Line) == 0 && l.Mapping == nil && l.Address == 0 }

// about compares the properties of the whole profile, and records those that stackmill does not
// keep.
func (r *result) about(p, original *profile.Profile) {
	if !slices.Equal(p.Comments, original.Comments) {
		r.remark(len(original.Comments), "comments are in the report `header`, not in what is exported")
	}
	if original.TimeNanos%1000 != 0 {
		r.remark(1, "when it began is kept to the microsecond")
	}
	if p.TimeNanos != original.TimeNanos/1000*1000 || p.DurationNanos != max(original.DurationNanos, 0) {
		r.differ("it began at %d and took %d ns, not %d and %d", p.TimeNanos, p.DurationNanos, original.TimeNanos, original.DurationNanos)
	}
	if original.Period != 0 && p.Period != original.Period {
		r.remark(1, "the period is not kept")
	}
	if named(p) && !named(original) {
		r.remark(len(p.Function), "functions whose names pprof's library does not read in the comments of texts")
	}
}

// named reports whether a profile has any functions.
func named(p *profile.Profile) bool {
	return slices.ContainsFunc(p.Location, func(l *profile.Location) bool { return len(l.Line) > 0 })
}

// strip removes all functions from a profile.
func strip(p *profile.Profile) {
	for _, l := range p.Location {
		l.Line = nil
	}
}

// frameNumbers numbers the frames of both profiles by their text. Keys of stacks have these numbers
// instead of the texts, which may repeat thousands of times.
type frameNumbers map[string]int

// samples returns the values of a profile that are not 0, by a key made of type, stack and labels.
func (f frameNumbers) samples(p *profile.Profile) map[string]int64 {
	sums, numbers := map[string]int64{}, map[*profile.Location]int{}
	for _, l := range p.Location {
		text := frame(l)
		if _, known := f[text]; !known {
			f[text] = len(f)
		}
		numbers[l] = f[text]
	}
	for _, s := range p.Sample {
		var b []byte
		for _, l := range s.Location {
			b = fmt.Appendf(b, "\x00%d;", numbers[l])
		}
		b = fmt.Append(b, s.Label, s.NumLabel, s.NumUnit)
		for i, v := range s.Value {
			key := p.SampleType[i].Type + " " + p.SampleType[i].Unit + " " + string(b)
			if sums[key] += v; sums[key] == 0 {
				delete(sums, key)
			}
		}
	}
	return sums
}

var numbered = regexp.MustCompile("\x00([0-9]+);")

// differing returns the values in sums that differ from those in others. Their keys have the texts
// of the frames.
func (f frameNumbers) differing(sums, others map[string]int64) map[string]int64 {
	texts := make([]string, len(f))
	for text, n := range f {
		texts[n] = text
	}
	differ := map[string]int64{}
	for k, v := range sums {
		if others[k] != v {
			differ[numbered.ReplaceAllStringFunc(k, func(number string) string {
				n, _ := strconv.Atoi(number[1 : len(number)-1])
				return texts[n]
			})] = v
		}
	}
	return differ
}

// frame returns a location as text.
func frame(l *profile.Location) string {
	var b strings.Builder
	for _, line := range l.Line {
		f := line.Function
		fmt.Fprintf(&b, "%q", f.Name)
		if f.SystemName != f.Name {
			fmt.Fprintf(&b, "=%q", f.SystemName)
		}
		fmt.Fprintf(&b, " %s:%d", f.Filename, line.Line)
		if f.StartLine != 0 {
			fmt.Fprintf(&b, " from %d", f.StartLine)
		}
		b.WriteByte(',')
	}
	if l.Address != 0 {
		fmt.Fprintf(&b, " @%x", l.Address)
	}
	if m := l.Mapping; m != nil {
		fmt.Fprintf(&b, " in %s %s %x-%x+%x", m.File, m.BuildID, m.Start, m.Limit, m.Offset)
	}
	return b.String() + ";"
}

// compareSums compares values by key. what names them in messages.
func compareSums[V comparable](r *result, what string, ours, theirs map[string]V) {
	for _, k := range slices.Sorted(maps.Keys(theirs)) {
		if ours[k] != theirs[k] {
			r.differ("%s: %v, not %v: %s", what, ours[k], theirs[k], k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(ours)) {
		if _, known := theirs[k]; !known {
			r.differ("%s: %v is not in the profile: %s", what, ours[k], k)
		}
	}
}

// functionValues are the exclusive and inclusive values of a function.
type functionValues struct{ Exclusive, Inclusive int64 }

// functionsOf returns the values of functions, by type and name. If inlined is set, inlined
// functions have their own values; otherwise the function that they are inlined in gets them. A
// stack counts once for each function on it.
func functionsOf(p *profile.Profile, inlined bool) map[string]functionValues {
	type function struct{ name, system, file, object string }
	of := func(l *profile.Location, line *profile.Line) function {
		f := function{name: "(no function)"}
		if m := l.Mapping; m != nil && m.File+m.BuildID != "" {
			f.object = m.File + " " + m.BuildID
			if line == nil {
				f.system = fmt.Sprint(m.Offset)
			}
		}
		if line != nil {
			g := line.Function
			name := cmp.Or(g.Name, g.SystemName)
			f = function{name, cmp.Or(g.SystemName, name), fmt.Sprintf("%s:%d", g.Filename, g.StartLine), f.object}
		}
		return f
	}
	sums := map[string]functionValues{}
	for _, s := range p.Sample {
		var path []function // functions from the leaf to the root
		for _, l := range s.Location {
			switch {
			case len(l.Line) == 0:
				path = append(path, of(l, nil))
			case inlined:
				for i := range l.Line {
					path = append(path, of(l, &l.Line[i]))
				}
			default:
				path = append(path, of(l, &l.Line[len(l.Line)-1]))
			}
		}
		if len(path) == 0 {
			continue // it counts only for the total
		}
		for i, v := range s.Value {
			add := func(name string, exclusive, inclusive int64) {
				if made.MatchString(name) {
					name = "(no function)"
				}
				key := p.SampleType[i].Type + " " + name
				sum := sums[key]
				sums[key] = functionValues{sum.Exclusive + exclusive, sum.Inclusive + inclusive}
			}
			add(path[0].name, v, 0)
			seen := map[function]bool{}
			for _, f := range path {
				if !seen[f] {
					seen[f] = true
					add(f.name, 0, v)
				}
			}
		}
	}
	return sums
}

// compareFunctions compares the values of functions with those in the original profile, unless that
// has no names. It also collects stackmill's remarks, except those about missing source files.
func (r *result) compareFunctions(p *program, want *profile.Profile, nameless bool) error {
	var rows []struct {
		View, Metric, Function string
		functionValues
	}
	const values = `SELECT '%[1]s' AS view, metric, function, sum(exclusive) AS exclusive, sum(inclusive) AS inclusive FROM %[1]s
		WHERE mode = 'user' AND (function <> '<Total>' OR kind <> 'artificial') GROUP BY ALL UNION ALL `
	err := p.query(fmt.Sprintf(values, "function_metrics")+fmt.Sprintf(values, "inline_function_metrics")+
		`SELECT '', reason, message, count, 0 FROM problems WHERE severity = 'info' AND reason NOT IN ('missing-source', 'stale-source')`, &rows)
	if err != nil {
		return err
	}
	ours := map[string]map[string]functionValues{"function_metrics": {}, "inline_function_metrics": {}}
	for _, row := range rows {
		if row.View == "" {
			r.remark(int(row.Exclusive), "%s: %s", row.Metric, row.Function)
			continue
		}
		if made.MatchString(row.Function) {
			row.Function = "(no function)"
		}
		sums, key := ours[row.View], row.Metric+" "+row.Function
		sums[key] = functionValues{sums[key].Exclusive + row.Exclusive, sums[key].Inclusive + row.Inclusive}
	}
	for view, sums := range ours {
		theirs := functionsOf(want, view == "inline_function_metrics")
		for _, of := range []map[string]functionValues{sums, theirs} {
			maps.DeleteFunc(of, func(_ string, v functionValues) bool { return v == functionValues{} })
		}
		if !nameless {
			compareSums(r, view, sums, theirs)
		}
	}
	return nil
}
