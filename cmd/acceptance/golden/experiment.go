package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Experiment has all goldens of a recording: the texts that gprofng printed about it.
type Experiment struct {
	Functions []Function // in the order of List.Rows
	List      Table      // gprofng's list of functions
	Lines     Table
	PCs       Table
	Tree      Table
	Blocks    []Table // callers and callees of each function, in the order of List.Rows
	Threads   Table
	CPUs      Table
	Leaks     Leaks // sums of the list of leaks; 0 if heap calls were not recorded
}

// Leaks has the sums that gprofng prints above the list of leaks.
type Leaks struct{ Distinct, Instances, Bytes int64 }

// Read reads the goldens in a folder.
func Read(dir string) (*Experiment, error) {
	x := &Experiment{}
	for name, t := range map[string]*Table{
		"functions.user.txt": &x.List, "lines.user.txt": &x.Lines, "pcs.user.txt": &x.PCs,
		"calltree.user.txt": &x.Tree, "threads.txt": &x.Threads, "cpus.txt": &x.CPUs,
	} {
		ts, err := ReadTables(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		if len(ts) != 1 {
			return nil, fmt.Errorf("%s: %d tables, want one", filepath.Join(dir, name), len(ts))
		}
		*t = ts[0]
	}
	var err error
	if x.Blocks, err = ReadTables(filepath.Join(dir, "callers-callees.user.txt")); err != nil {
		return nil, err
	}
	if x.Functions, err = ReadFunctions(filepath.Join(dir, "fsummary.user.txt")); err != nil {
		return nil, err
	}
	if x.Leaks, err = readLeaks(filepath.Join(dir, "leaks.txt")); err != nil {
		return nil, err
	}
	return x, x.consistent()
}

// consistent returns an error unless the three lists of functions have the same order: functions
// with the same name are distinguished only by it.
func (x *Experiment) consistent() error {
	if len(x.Functions) != len(x.List.Rows) || len(x.Blocks) != len(x.List.Rows) {
		return fmt.Errorf("%d functions, %d summaries and %d blocks", len(x.List.Rows), len(x.Functions), len(x.Blocks))
	}
	for i, r := range x.List.Rows {
		if name := x.Functions[i].Name; name != r.Name {
			return fmt.Errorf("function %d is %q in the list and %q in the summary", i, r.Name, name)
		}
		for _, b := range x.Blocks[i].Rows {
			if b.Star && b.Name != r.Name {
				return fmt.Errorf("function %d is %q in the list and %q in the blocks", i, r.Name, b.Name)
			}
		}
	}
	return nil
}

var leakHead = regexp.MustCompile(`Distinct Leaks = (\d+), Total Instances = (\d+), Total Bytes Leaked = (\d+)`)

func readLeaks(path string) (Leaks, error) {
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return Leaks{}, nil
	}
	m := leakHead.FindSubmatch(text)
	if err != nil || m == nil {
		return Leaks{}, fmt.Errorf("%s: no sums of leaks: %w", path, err)
	}
	var n [3]int64
	for i := range n {
		if n[i], err = strconv.ParseInt(string(m[i+1]), 10, 64); err != nil {
			return Leaks{}, fmt.Errorf("%s: %w", path, err)
		}
	}
	return Leaks{n[0], n[1], n[2]}, nil
}

// Print formats a value as gprofng does (gprofng-experiment 8.5): times, given
// in ns, as seconds with three decimals.
func Print(unit string, value int64) string {
	switch {
	case unit != "ns":
		return strconv.FormatInt(value, 10)
	case value == 0:
		return "0."
	}
	return strconv.FormatFloat(float64(value/1000)/1e6, 'f', 3, 64)
}

var pcName = regexp.MustCompile(`^(.*) \+ 0x([0-9A-F]{8,})(?:, line (\d+) in (?:alternate source context )?"([^"]*)")?(?: <--.*)?$`)

// PC parses the name in a row of PCs. It returns the function, the offset in it, and the source
// line with its file; 0 and "" if that is unknown.
func PC(name string) (function string, offset int64, line int, file string, ok bool) {
	m := pcName.FindStringSubmatch(name)
	if m == nil {
		return name, 0, 0, "", false
	}
	offset, err := strconv.ParseInt(m[2], 16, 64)
	line, _ = strconv.Atoi(m[3])
	return m[1], offset, line, m[4], err == nil
}

var lineName = regexp.MustCompile(`^(.*), line (\d+) in "(.*)"$`)

// Line parses the name in a row of lines. line is 0 for code without line numbers.
func Line(name string) (function string, line int, file string) {
	if m := lineName.FindStringSubmatch(name); m != nil {
		line, _ = strconv.Atoi(m[2])
		return m[1], line, m[3]
	}
	if f, ok := strings.CutPrefix(name, "<Function: "); ok {
		function, _, _ = strings.Cut(f, ", instructions ")
		return strings.TrimSuffix(function, ">"), 0, ""
	}
	return name, 0, ""
}
