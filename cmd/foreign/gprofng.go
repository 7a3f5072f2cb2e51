package main

import (
	"bytes"
	"fmt"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// functionRow matches a row of `gprofng display text -functions`: the exclusive and the inclusive
// value, name, size, and address. The number of the load object precedes the address.
var functionRow = regexp.MustCompile(`^\s*([\d.]+)\s+([\d.]+)\s+(\S.*?)\s+(\d+)\s+\d+:0x([0-9a-f]+)\s*$`)

// code identifies a function by where its code is, because gprofng and stackmill may choose
// different names for it from the symbol table. Functions without code have only a name.
type code struct {
	address, size int64
	name          string
}

// times are the values of a function, in ms, and its names.
type times struct {
	exclusive, inclusive float64
	names                []string
}

func (t *times) add(exclusive, inclusive float64, names ...string) {
	t.exclusive, t.inclusive, t.names = t.exclusive+exclusive, t.inclusive+inclusive, append(t.names, names...)
}

// compareGprofng compares the CPU times of the functions in machine mode with gprofng's.
func (r *result) compareGprofng(p *program) error {
	cmd := exec.CommandContext(p.ctx, "gprofng", "display", "text", "-limit", "0", "-viewmode", "machine", "-metrics", "e.totalcpu:i.totalcpu:name:size:address", "-functions", r.path)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	r.theirs = spentBy(cmd, began)
	if err != nil {
		r.peer = fmt.Sprintf("gprofng: %v: %s", err, bytes.TrimSpace(out))
		return nil
	}
	var rows []struct {
		Function, Name, Aliases string
		Exclusive, Inclusive    int64
		Address, Size           int64
	}
	if err := p.query(`SELECT m.function AS function, f.gprofng_name AS name, f.aliases AS aliases, f."offset" AS address, f.size AS size,
			m.exclusive AS exclusive, m.inclusive AS inclusive
		FROM function_metrics m JOIN functions_wide f USING (experiment_id, function_id)
		WHERE m.mode = 'machine' AND m.metric = 'totalcpu'`, &rows); err != nil {
		return err
	}
	ours, theirs := map[code]*times{}, map[code]*times{}
	put := func(to map[code]*times, c code, exclusive, inclusive float64, names ...string) {
		switch name := names[0]; {
		case strings.HasPrefix(name, "<static>"): // both divide code without symbols differently: compare the sum
			c, names, inclusive = code{name: "<static>"}, []string{"<static>"}, 0
		case c.size == 0 || strings.HasPrefix(name, "<") || strings.HasPrefix(name, "__vdso_"): // its address differs between processes: compare by name
			c = code{name: name}
		}
		if to[c] == nil {
			to[c] = &times{}
		}
		to[c].add(exclusive, inclusive, names...)
	}
	for _, f := range rows {
		put(ours, code{f.Address, f.Size, ""}, float64(f.Exclusive)/1e6, float64(f.Inclusive)/1e6,
			append([]string{bare(f.Function), bare(f.Name)}, strings.Split(f.Aliases, "\t")...)...)
	}
	for _, line := range strings.Split(string(out), "\n") {
		if m := functionRow.FindStringSubmatch(line); m != nil {
			size, _ := strconv.ParseInt(m[4], 10, 64)
			address, _ := strconv.ParseInt(m[5], 16, 64)
			put(theirs, code{address, size, ""}, milliseconds(m[1]), milliseconds(m[2]), bare(m[3]))
		}
	}
	if len(theirs) == 0 {
		r.peer = "gprofng shows no functions with totalcpu"
	}
	for _, c := range slices.SortedFunc(maps.Keys(theirs), func(a, b code) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }) {
		t, o := theirs[c], ours[c]
		if o == nil {
			o = &times{}
		}
		// gprofng rounds to ms: each of its rows may be off by 1.
		if a, b := o.exclusive-t.exclusive, o.inclusive-t.inclusive; max(a, -a, b, -b) > float64(len(t.names)) {
			r.differ("%v %v: %.1f and %.1f ms, gprofng shows %.0f and %.0f", c, t.names, o.exclusive, o.inclusive, t.exclusive, t.inclusive)
		}
		for _, name := range t.names {
			if !slices.Contains(o.names, name) {
				r.remark(1, "functions with a name that only gprofng uses")
			}
		}
	}
	for c, o := range ours {
		if theirs[c] == nil && o.inclusive >= 1 {
			r.differ("%v %v: %.1f and %.1f ms, gprofng shows none", c, o.names, o.exclusive, o.inclusive)
		}
	}
	return nil
}

// bare returns the name of a function without parameters and added marks.
func bare(name string) string {
	name, _, _ = strings.Cut(name, " [")
	name, _, _ = strings.Cut(name, " (")
	name, _, _ = strings.Cut(name, "(")
	return name
}

// milliseconds converts a text with a number of seconds to ms.
func milliseconds(text string) float64 {
	v, _ := strconv.ParseFloat(text, 64)
	return v * 1000
}
