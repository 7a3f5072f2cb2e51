package export

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	"stackmill/cmd/acceptance/suite"
	"stackmill/pipeline"
	"stackmill/queries"
	"stackmill/queries/export"
)

// hostileNames contain syntax of the formats.
var hostileNames = []string{
	"a;b", "a:b", "a:1:2", "new\nline", "main:99:0\n 1: 99", "cr\rx", "tab\tx", "quote\"'", `back\slash`, "v\vt", "f\ff", "nul\x00x", "esc\x1b[31m", "line\u2028end", "\xff\xfe",
	"(5) a", "(5)", "fn=(1)", "???", "+3", "*", "#hash", "!mark", "[main:3 @ a]", "{}", "thread 12", "thread 7.5", "thread\t12", " 12", "12", "0x10", "-1", " ", "\n",
	" before", "after ", "<Total>", "<no stack>", "<Unknown>", "ünï", "😀",
}

// hostile makes a store of one profile in which each name is a leaf, and is inlined in one; the
// metrics' names differ only in characters that formats cannot represent.
func hostile(t *testing.T) (db *queries.DB, total int64) {
	t.Helper()
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "c p", Unit: "count"}, {Type: "c\tp", Unit: "count"}, {Type: "c_p", Unit: "count"}}, DefaultSampleType: "c p"}
	function := func(name string) *profile.Function {
		f := &profile.Function{ID: uint64(len(p.Function) + 1), Name: name, SystemName: name, Filename: "dir/" + name + ".c", StartLine: 1}
		p.Function = append(p.Function, f)
		return f
	}
	location := func(functions ...*profile.Function) *profile.Location {
		l := &profile.Location{ID: uint64(len(p.Location) + 1)}
		for _, f := range functions {
			l.Line = append(l.Line, profile.Line{Function: f, Line: 2})
		}
		p.Location = append(p.Location, l)
		return l
	}
	outer := function("outer")
	root := location(outer)
	for i, name := range hostileNames {
		f := function(name)
		leaf := location(f)
		for j, stack := range [][]*profile.Location{{leaf, root}, {location(f, outer), leaf}} {
			v := int64(1000*j + 100 + i)
			total += v
			p.Sample = append(p.Sample, &profile.Sample{Location: stack, Value: []int64{v, 2 * v, 3 * v}})
		}
	}
	return profiles(t, p), total
}

// profiles makes a store of profiles.
func profiles(t *testing.T, list ...*profile.Profile) *queries.DB {
	t.Helper()
	dir := t.TempDir()
	for i, p := range list {
		f, err := os.Create(filepath.Join(dir, strconv.Itoa(i)+".pb.gz"))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Write(f); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	db, err := suite.Open(pipeline.Options{Store: filepath.Join(t.TempDir(), "store")}, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// foldedLine matches a line as flamegraph.pl and inferno split it, twice if it has two values.
var foldedLine = regexp.MustCompile(`^(.*)[\s\v]+?(\d+(?:\.\d*)?)$`)

// Each format has the values of functions, whatever their names.
func TestHostileNames(t *testing.T) {
	db, want := hostile(t)
	var sum int64
	for line := range strings.Lines(string(exported(t, db, export.Request{As: "folded"}))) {
		m := foldedLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil || foldedLine.MatchString(m[1]) || strings.Count(m[1], ";") != 1 {
			t.Errorf("folded: %q", line)
			continue
		}
		n, _ := strconv.ParseInt(m[2], 10, 64)
		sum += n
	}
	if sum != want {
		t.Errorf("folded: sum %d, want %d", sum, want)
	}

	var scope struct {
		Profiles []struct{ Weights []int64 }
	}
	if err := json.Unmarshal(exported(t, db, export.Request{As: "speedscope"}), &scope); err != nil {
		t.Fatal(err)
	}
	var fox struct {
		Threads []struct{ Samples struct{ Weight []int64 } }
	}
	if err := json.Unmarshal(exported(t, db, export.Request{As: "firefox"}), &fox); err != nil {
		t.Fatal(err)
	}
	for format, weights := range map[string][]int64{"speedscope": scope.Profiles[0].Weights, "firefox": fox.Threads[0].Samples.Weight} {
		sum := int64(0)
		for _, w := range weights {
			sum += w
		}
		if sum != want {
			t.Errorf("%s: sum %d, want %d", format, sum, want)
		}
	}
}

// A profile that is exported to pprof and ingested again has the same names.
func TestHostileNamesPprof(t *testing.T) {
	db, _ := hostile(t)
	p, err := profile.ParseData(exported(t, db, export.Request{As: "pprof"}))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range p.Function {
		got = append(got, f.Name)
	}
	want := []string{"outer"}
	for _, name := range hostileNames {
		want = append(want, strings.ToValidUTF8(name, "\uFFFD"))
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := gocmp.Diff(slices.Compact(got), want); diff != "" {
		t.Errorf("-exported +recorded\n%s", diff)
	}
}

// callgrind_annotate prints the functions' values, separately for each metric.
func TestHostileNamesCallgrind(t *testing.T) {
	if _, err := exec.LookPath("callgrind_annotate"); err != nil {
		t.Skip("no callgrind_annotate (a part of valgrind)")
	}
	db, want := hostile(t)
	values, _ := annotated(t, file(t, db, export.Request{As: "callgrind", Metric: "c p"}), "no")
	var sum int64
	for name, v := range values {
		if sum += v; name == "" {
			t.Errorf("%d in a function without a name", v)
		}
	}
	if sum != want {
		t.Errorf("sum %d, want %d", sum, want)
	}
	events := regexp.MustCompile(`(?m)^events: (.*)$`).FindSubmatch(exported(t, db, export.Request{As: "callgrind"}))
	if names := strings.Fields(string(events[1])); len(names) != 3 || len(slices.Compact(slices.Sorted(slices.Values(names)))) != 3 {
		t.Errorf("events are %q", names)
	}
}

// llvm-profdata prints the values, except for omissions that the comments list.
func TestHostileNamesAutoFDO(t *testing.T) {
	program := llvm(t, "llvm-profdata")
	db, want := hostile(t)
	path := file(t, db, export.Request{As: "autofdo"})
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	of := regexp.MustCompile(`# Of (\d+), (\d+) are left out`).FindStringSubmatch(string(text))
	out, err := exec.CommandContext(t.Context(), program, "merge", "--sample", "--text", "-o", "-", path).CombinedOutput()
	if err != nil || of == nil || of[1] != strconv.FormatInt(want, 10) {
		t.Fatalf("%v, %v\n%s", of, err, out)
	}
	lost, _ := strconv.ParseInt(of[2], 10, 64)
	var sum int64
	for _, m := range head.FindAllStringSubmatch(string(out), -1) {
		n, _ := strconv.ParseInt(m[2], 10, 64)
		sum += n
	}
	if sum != want-lost || sum == 0 {
		t.Errorf("sum %d, want %d - %d\n%s", sum, want, lost, out)
	}
}

// Sums of experiments that exceed 64 bits are refused in every format.
func TestTooLargeSums(t *testing.T) {
	var list []*profile.Profile
	for i := range 2 {
		f := &profile.Function{ID: 1, Name: "f", SystemName: "f", Filename: "f.c", StartLine: 1}
		l := &profile.Location{ID: 1, Line: []profile.Line{{Function: f, Line: 2}}}
		list = append(list, &profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: "count"}}, Function: []*profile.Function{f}, Location: []*profile.Location{l},
			Sample: []*profile.Sample{{Location: []*profile.Location{l}, Value: []int64{math.MaxInt64 - int64(i)}}}})
	}
	db := profiles(t, list...)
	for _, as := range export.Formats() {
		if as == "firefox" { // it sums nothing
			continue
		}
		err := export.Write(t.Context(), db, export.Request{As: as, Mode: "user"}, new(strings.Builder))
		if err == nil || !strings.Contains(err.Error(), "exceeds 64 bits") {
			t.Errorf("%s: %v", as, err)
		}
	}
}

// Sums of durations saturate at 64 bits.
func TestTooLongDurations(t *testing.T) {
	var list []*profile.Profile
	for i := range 2 {
		list = append(list, &profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: "count"}}, Sample: []*profile.Sample{{Value: []int64{int64(i + 1)}}}, DurationNanos: math.MaxInt64})
	}
	p, err := profile.ParseData(exported(t, profiles(t, list...), export.Request{As: "pprof"}))
	if err != nil {
		t.Fatal(err)
	}
	if p.DurationNanos != math.MaxInt64 {
		t.Errorf("%d ns", p.DurationNanos)
	}
}
