package perfdata

import (
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/schema/diagnostic"
)

// Everything that the format's reference lists is used, stored or reported, and has the
// name that it has there.
func TestContents(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "formats", "perf-data.md"))
	if err != nil {
		t.Fatal(err)
	}
	chapter := func(from, until string) string {
		_, rest, found := strings.Cut(string(text), "\n"+from)
		part, _, ends := strings.Cut(rest, "\n"+until)
		if !found || !ends {
			t.Fatalf("there is no chapter %q before %q", from, until)
		}
		return part
	}
	compare := func(what string, want, got map[int]string) {
		t.Helper()
		if len(want) < 5 {
			t.Errorf("the reference has only %d %s", len(want), what)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: (-reference +code)\n%s", what, d)
		}
	}
	names := func(list map[int]contentKind) map[int]string {
		out := map[int]string{}
		for n, c := range list {
			out[n] = c.name
		}
		return out
	}

	records := map[int]string{}
	for _, m := range regexp.MustCompile(`(\d+) ([A-Z][A-Z0-9_]+)`).FindAllStringSubmatch(firstCells(chapter("### 5.1", "### 5.3")+chapter("### 5.4", "## 6."), 1), -1) {
		n, _ := strconv.Atoi(m[1])
		records[n] = m[2]
	}
	kinds := map[int]contentKind{}
	for n, c := range recordKinds {
		kinds[int(n)] = c
	}
	compare("types of records", records, names(kinds))

	features := regexp.MustCompile(`\([^)]*\)`).ReplaceAllString(firstCells(chapter("## 2.", "## 3."), 2), "")
	compare("features", numbered(t, features, ","), names(headerFeatures))

	fields := map[int]contentKind{}
	for n, c := range sampleFields {
		fields[n] = c
	}
	rows := strings.NewReplacer(" •", "", " or ", ",", " / ", ",").Replace(firstCells(chapter("## 6.", "### 6.1"), 3))
	compare("fields of samples", numbered(t, regexp.MustCompile(`(?m)^[^|]*\|`).ReplaceAllString(rows, ""), ","), names(fields))

	formats := map[int]string{
		readEnabled: "total_time_enabled", readRunning: "total_time_running", readID: "id", readGroup: "group", readLost: "lost",
	}
	_, list, _ := strings.Cut(chapter("## 4.", "## 5."), "read_format: ")
	list, _, _ = strings.Cut(list, " |")
	want := map[int]string{}
	for _, item := range strings.Split(list, ", ") {
		n, name, _ := strings.Cut(item, " ")
		bit, _ := strconv.Atoi(n)
		want[bit] = name
	}
	compare("bits of read_format", want, formats)
}

// firstCells returns the first cells of the rows of tables, a line for each row.
func firstCells(text string, cells int) string {
	var list []string
	for line := range strings.Lines(text) {
		if parts := strings.Split(line, "|"); len(parts) > cells+1 && strings.ContainsAny(parts[1], "0123456789") {
			list = append(list, strings.Join(parts[1:cells+1], "|"))
		}
	}
	return strings.Join(list, "\n")
}

// numbered reads lines with numbers and the same number of names. It skips lines for ranges without
// an end.
func numbered(t *testing.T, text, between string) map[int]string {
	list := map[int]string{}
	for line := range strings.Lines(text) {
		numbers, names, _ := strings.Cut(line, "|")
		if strings.Contains(numbers, "+") {
			continue
		}
		all, called := strings.Split(numbers, between), strings.Split(names, between)
		if len(all) != len(called) {
			t.Fatalf("%q has %d numbers and %d names", line, len(all), len(called))
		}
		for i := range all {
			n, err := strconv.Atoi(strings.TrimSpace(all[i]))
			if err != nil {
				t.Fatal(err)
			}
			list[n] = strings.TrimSpace(called[i])
		}
	}
	return list
}

// remarks opens a recording and lists its problems of severity Info about unused content.
func remarks(t *testing.T, content []byte) (list []string) {
	t.Helper()
	for _, p := range openFile(t, content).Problems.Problems {
		switch {
		case p.Severity > diagnostic.Info && p.Reason != "aux-data" && p.Reason != "lost-samples":
			t.Error(p)
		case p.Severity == diagnostic.Info && strings.HasPrefix(p.Reason, "unused-") && strings.Contains(p.Message, "store"):
			list = append(list, fmt.Sprint(p.Reason, " ", p.Count))
		}
	}
	return list
}

// Every kind of record that is not used is reported once, with the number of its records.
func TestUnusedRecords(t *testing.T) {
	for _, typ := range slices.Sorted(maps.Keys(recordKinds)) {
		k := recordKinds[typ]
		if k.lacks == "" && !slices.Contains([]uint32{recordUnthrottle, recordThreadMap, recordCPUMap}, typ) || typ == recordTracingData {
			continue
		}
		b := &builder{order: binary.LittleEndian}
		b.sample(1, 1, user, 1)
		for range 3 {
			var body []any
			size, fixed := fixedSizes[typ]
			switch {
			case fixed:
				body = []any{make([]any, 0)}[:0]
				for range size / 8 {
					body = append(body, 0)
				}
			case typ == recordRead:
				body = []any{0, 7}
			default:
				body = []any{0}
			}
			if typ < recordTool {
				body = append(body, uint32(1), uint32(1), 5)
			}
			b.record(typ, 0, body...)
		}
		b.sample(1, 9, user, 1)
		var want []string
		if k.lacks != "" {
			want = []string{"unused-records 3"}
		}
		if d := cmp.Diff(want, remarks(t, b.file())); d != "" {
			t.Errorf("%s: %s", k.name, d)
		}
	}
}

// Every unused field of samples is reported once, unless its event uses it, and so is every unused
// feature of the header.
func TestUnusedFields(t *testing.T) {
	branches := func(b *builder) []any { return b.branches(false, jump(1, 2, 3), jump(4, 5, 3)) }
	registers := func(*builder) []any { return []any{2, 0x10, 0x20} }
	for _, tt := range []struct {
		name       string
		field      uint64
		branchType uint64
		arch       string
		body       func(b *builder) []any
		want       []string
	}{
		{"raw", sampleRaw, 0, "", func(*builder) []any { return []any{uint32(4), uint32(7)} }, []string{"unused-fields 2"}},
		{"branches", sampleBranchStack, branchAny, "", branches, []string{"unused-fields 4"}},
		{"branches that show callers", sampleBranchStack, branchAny | branchTypes, "", branches, []string{"unused-fields 4"}},
		{"a stack of calls", sampleBranchStack, branchCallStack, "", branches, nil},
		{"registers", sampleRegsUser, 0, "", registers, []string{"unused-fields 2"}},
		{"arm64's return register", sampleRegsUser, 0, "aarch64", registers, nil},
		{"registers and a stack", sampleRegsUser | sampleStackUser, 0, "", func(*builder) []any { return []any{2, 0x10, 0x20, 0} }, nil},
		{"weight", sampleWeight, 0, "", func(*builder) []any { return []any{9} }, nil},
		{"one latency", sampleWeightStruct, 0, "", func(*builder) []any { return []any{9} }, nil},
		{"latencies", sampleWeightStruct, 0, "", func(*builder) []any { return []any{9 | 3<<32} }, []string{"unused-fields 2"}},
		{"data source", sampleDataSrc, 0, "", func(*builder) []any { return []any{1} }, nil},
		{"transactions", sampleTransaction, 0, "", func(*builder) []any { return []any{1} }, []string{"unused-fields 2"}},
		{"registers at the interrupt", sampleRegsIntr, 0, "", func(*builder) []any { return []any{0} }, []string{"unused-fields 2"}},
		{"physical address", samplePhysAddr, 0, "", func(*builder) []any { return []any{1} }, nil},
		{"data page size", sampleDataPageSize, 0, "", func(*builder) []any { return []any{4096} }, []string{"unused-fields 2"}},
		{"code page size", sampleCodePageSize, 0, "", func(*builder) []any { return []any{4096} }, []string{"unused-fields 2"}},
		{"trace", sampleAux, 0, "", func(*builder) []any { return []any{8, 0} }, []string{"unused-fields 2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := &builder{order: binary.LittleEndian, more: tt.field, branchType: tt.branchType, regs: 1<<arm64LR | 1}
			if tt.arch != "" {
				b.feature(featureHostname, "host")
				b.feature(featureArch, tt.arch)
			}
			for i := range 2 {
				b.record(recordSample, miscUser, append([]any{0x4010, uint32(1), uint32(1), 100 + i, 2, user, 0x4010}, tt.body(b)...)...)
			}
			if d := cmp.Diff(tt.want, remarks(t, b.file())); d != "" {
				t.Error(d)
			}
		})
	}
	for bit := range 64 {
		k, known := headerFeatures[bit]
		b := &builder{order: binary.LittleEndian}
		b.sample(1, 1, user, 1)
		b.feature(featureHostname, "host")
		if bit == featureTimes || bit < 2 && bit != 1 || bit == featureHostname || known && k.lacks == "" {
			continue
		}
		b.feature(bit, 2, "x")
		reports := 0
		for _, p := range openFile(t, b.file()).Problems.Problems {
			if p.Reason == "unused-features" && p.Severity == diagnostic.Info {
				reports++
			}
		}
		if reports != 1 {
			t.Errorf("feature %d, %s: %d remarks", bit, k.name, reports)
		}
	}
}

// Counters' numbers of lost samples make a warning, with the last number of each counter, unless
// records already report as many.
func TestLostByCounters(t *testing.T) {
	for recorded, want := range map[int][]string{0: {"12"}, 5: {"5", "7"}, 12: {"12"}} {
		b := &builder{order: binary.LittleEndian, more: sampleRead, readFormat: readID | readLost}
		for i, lost := range []int{0, 3, 5, 7} { // of two counters
			b.record(recordSample, miscUser, 0x4010, uint32(1), uint32(1), 100+i, 10*(i+1), 1+i%2, lost, 2, user, 0x4010)
		}
		if recorded > 0 {
			b.record(recordLostSamples, 0, recorded, uint32(1), uint32(1), 200)
		}
		var got []string
		for _, p := range openFile(t, b.file()).Problems.Problems {
			if p.Reason == "lost-samples" {
				got = append(got, fmt.Sprint(p.Count))
			}
		}
		slices.Sort(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%d recorded: %s", recorded, d)
		}
	}
}
