package pipeline

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	gocmp "github.com/google/go-cmp/cmp"

	"stackmill/schema"
	"stackmill/schema/storedir"
	"stackmill/stages/decode"
)

// named decodes files named *.named. Each line is a sample: its value, and the frames of its stack,
// leaf first, as function@file:line, without addresses.
type named struct{ decode.Decoder }

func (named) Name() string                          { return "named" }
func (named) Detect(path string) bool               { return filepath.Ext(path) == ".named" }
func (named) Members(path string) ([]string, error) { return []string{path}, nil }
func (named) Files(string) ([]string, error)        { return []string{"."}, nil }

type namedFrame struct {
	function, file string
	line           int32
}

type namedSample struct {
	value  int64
	frames []namedFrame
}

// namedSamples have two functions with the same name in different files, one on several lines, a
// recursive one, and one that only has a name.
var namedSamples = []namedSample{
	{1, []namedFrame{{"leaf", "a.go", 11}, {"mid", "a.go", 20}, {"main", "m.go", 5}}},
	{2, []namedFrame{{"leaf", "b.go", 12}, {"mid", "a.go", 21}, {"main", "m.go", 5}}},
	{4, []namedFrame{{"mid", "a.go", 21}, {"mid", "a.go", 22}, {"main", "m.go", 1 << 30}}},
	{8, []namedFrame{{"native", "", 0}, {"main", "m.go", 5}}},
	{16, []namedFrame{{"leaf", "a.go", 11}, {"mid", "a.go", 20}, {"main", "m.go", 5}}},
}

func (named) Open(context.Context, string) *decode.Recording {
	names := decode.NewNames()
	p := &decode.Process{Number: 1, PID: 7, Stacks: &decode.Stacks{}, Target: "prog", Closed: true,
		Kinds: []decode.KindInfo{{Kind: schema.Perf}}, Counters: []decode.Counter{{Name: "cpu", Title: "cpu", TimeUnit: true}}}
	for _, s := range namedSamples {
		raw := decode.RawStack{Callers: decode.CallersUnwound, OMPState: -1}
		for _, f := range s.frames {
			of := names.Of(decode.NamedObject{})
			function := of.InternFunction(decode.NamedFunction{Name: f.function, File: f.file})
			w, err := of.InternLocation(decode.NamedLocation{Offset: decode.NoFileOffset, Lines: []decode.NamedLine{{Function: function, Line: f.line}}})
			if err != nil {
				panic(err)
			}
			raw.Words = append(raw.Words, w)
		}
		p.Stacks.Add(&raw)
	}
	p.Mappings = names.Image()
	p.Events = func(k schema.Kind, _ ...string) decode.EventReader { return &namedEvents{left: k == schema.Perf} }
	return &decode.Recording{Format: "named", Processes: []*decode.Process{p},
		Locate: func(string) []decode.Candidate { return nil }, Close: func() error { return nil }}
}

type namedEvents struct{ left bool }

func (e *namedEvents) Next() (arrow.RecordBatch, error) {
	if !e.left {
		return nil, nil
	}
	e.left = false
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema.EventSchema(schema.Perf))
	defer b.Release()
	for i, s := range namedSamples {
		for column, field := range b.Schema().Fields() {
			v := map[string]int64{"time_ns": int64(i), "raw_stack": int64(i), "cgroup": -1, "period": s.value, "data_address": -1, "data_source": -1, "physical_address": -1}[field.Name]
			switch f := b.Field(column).(type) {
			case *array.Int64Builder:
				f.Append(v)
			case *array.Int32Builder:
				f.Append(int32(v))
			}
		}
	}
	return b.NewRecordBatch(), nil
}

func (*namedEvents) Close() {}

// rowsInStore returns the rows of a table of the store as text, each of the columns given.
func rowsInStore(t *testing.T, store, table string, columns ...string) (rows [][]string) {
	t.Helper()
	c, err := storedir.ReadContents(store)
	if err != nil || len(c.Batches) != 1 {
		t.Fatal(table, err)
	}
	b := &c.Batches[0]
	reader := newBatchReader(store, b)
	defer reader.close()
	err = eachOf(reader.tables(b.Experiments[0].ExperimentID), schema.ByName(table), func(some schema.Events) {
		for i := range int(some.NumRows()) {
			var row []string
			for _, name := range columns {
				row = append(row, some.Column(name).ValueStr(i))
			}
			rows = append(rows, row)
		}
	}, columns...)
	if err != nil {
		t.Fatal(table, err)
	}
	return rows
}

// A recording whose frames are names with files and lines is stored as others are: functions,
// lines, stacks and values are right, and only source texts are missing.
func TestNames(t *testing.T) {
	before := decoders
	decoders = []decode.Decoder{named{}}
	defer func() { decoders = before }()
	path, store := filepath.Join(t.TempDir(), "x.named"), filepath.Join(t.TempDir(), "store")
	if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	results, err := Ingest(t.Context(), Options{Store: store, Jobs: 1, DebugDirs: []string{}}, path)
	if err != nil || len(results) != 1 || results[0].Status != Complete || len(results[0].Problems) != 1 || results[0].Problems[0].Reason != "missing-source" {
		t.Fatal(results, err)
	}

	modules := map[string]string{}
	for _, r := range rowsInStore(t, store, "modules", "module_id", "name") {
		modules[r[0]] = r[1]
	}
	functions, places := map[string]string{}, map[string]string{}
	for _, r := range rowsInStore(t, store, "functions", "function_no", "name", "module_id", "kind") {
		if functions[r[0]] = r[1] + " " + modules[r[2]]; r[3] != "dynamic" && !strings.HasPrefix(r[1], "<") && !strings.HasPrefix(r[1], "collector") {
			t.Errorf("%s is %s", r[1], r[3])
		}
	}
	for _, r := range rowsInStore(t, store, "locations", "location", "function_no", "file", "line") {
		places[r[0]] = functions[r[1]] + " " + r[2] + ":" + r[3]
	}
	frames, parents, frameOf := map[string]string{}, map[string]int{}, map[string]string{}
	for _, r := range rowsInStore(t, store, "tree_frames", "frame", "machine_location") {
		frames[r[0]] = places[r[1]]
	}
	for _, r := range rowsInStore(t, store, "stack_tree", "node", "up", "frame") {
		node, _ := strconv.Atoi(r[0])
		up, _ := strconv.Atoi(r[1])
		parents[r[0]], frameOf[r[0]] = node-up, frames[r[2]]
	}
	stacks := map[string]string{}
	for _, r := range rowsInStore(t, store, "recorded_stacks", "stack", "node") {
		var stack []string
		for n := r[1]; n != "0"; n = strconv.Itoa(parents[n]) {
			stack = append(stack, frameOf[n])
		}
		stacks[r[0]] = strings.Join(stack, ", ")
	}
	var got []string
	for _, r := range rowsInStore(t, store, "stack_values", "stack", "metric", "value") {
		if r[1] == "cpu" {
			got = append(got, r[2]+" "+stacks[r[0]])
		}
	}
	want := []string{
		"1 leaf a.go a.go:11, mid a.go a.go:20, main m.go m.go:5",
		"2 leaf b.go b.go:12, mid a.go a.go:21, main m.go m.go:5",
		"4 mid a.go a.go:21, mid a.go a.go:22, main m.go m.go:1073741824",
		"8 native (unknown) :0, main m.go m.go:5",
		"16 leaf a.go a.go:11, mid a.go a.go:20, main m.go m.go:5",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	var values []string
	for _, r := range rowsInStore(t, store, "function_values", "function_no", "metric", "in_user", "exclusive", "inclusive") {
		if r[1] == "cpu" && functions[r[0]] != "" && !strings.HasPrefix(functions[r[0]], "<Total>") {
			values = append(values, functions[r[0]]+" "+r[3]+" "+r[4])
		}
	}
	slices.SortFunc(values, cmp.Compare[string])
	want = []string{"leaf a.go 17 17", "leaf b.go 2 2", "main m.go 0 31", "mid a.go 4 23", "native (unknown) 8 8"}
	if diff := gocmp.Diff(want, values); diff != "" {
		t.Error(diff)
	}
}
