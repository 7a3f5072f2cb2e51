package synthetic

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/internal/corpus"
	"stackmill/queries"
	"stackmill/schema"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

// The values of `memop` for a counter (gprofng-experiment 9.5).
const (
	skids  = `memop="1"`
	exact  = `memop="0x203"`
	behind = `memop="0x403"`
)

// The addresses of backtrack.c's programs, and data addresses outside of them.
const (
	strippedAt = 0x10000000 // offset from its link-time address
	heap       = 0x30000000
	noProgram  = 0x0123_4567_89ab_cdef
)

// program has the addresses of backtrack.c's labels.
type program map[string]uint64

func readProgram(t *testing.T, content []byte) program {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	p := program{}
	for _, s := range symbols {
		p[s.Name] = s.Value
	}
	return p
}

// at returns the address of a label.
func (p program) at(t *testing.T, label string) uint64 {
	a, ok := p[label]
	if label != "" && !ok {
		t.Fatalf("no label %s", label)
	}
	return a
}

const (
	noDebugInfo   = "Module with trigger PC not compiled with -xhwcprof"
	noTarget      = "Backtracking failed to find a valid branch target"
	crossed       = "Backtracking traversed a branch target"
	noDescriptor  = "No identifying descriptor provided by the compiler"
	noType        = "No type information"
	notDetermined = "Not determined from the symbolic information provided by the compiler"
	prevented     = "Backtracking was prevented by a jump or call instruction"
	notFound      = "Backtracking did not find trigger PC"
	changed       = "Could not determine VA because registers changed after trigger instruction"
	invalid       = "Memory-referencing instruction did not specify a valid VA"

	cell = "{structure:cell}"
)

// counted are events with their expected data objects. Each event is of another hardware counter.
var counted = []struct {
	name            string
	memop           string
	leaf, candidate string
	into            uint64 // offset of the PC from the label of the leaf
	address         uint64 // or a code that says why there is no address
	global          string // name of the variable whose address it is
	want            string
}{
	{name: "nearest", memop: skids, leaf: "straight_leaf", address: heap, want: cell + ".{long count}"},
	{name: "some instructions back", memop: skids, leaf: "skids_leaf", address: heap, want: cell + ".{double weight}"},
	{name: "without an address", memop: skids, leaf: "skids_leaf", want: cell + ".{double weight}"},
	{name: "two accesses, the nearer", memop: skids, leaf: "both_leaf", address: heap, want: cell + ".{double weight}"},
	{name: "the base is overwritten", memop: skids, leaf: "changes_leaf", address: heap, want: cell + ".{pointer+structure:cell next}"},
	{name: "candidate", memop: skids, leaf: "skids_leaf", candidate: "skids_load", address: heap, want: cell + ".{double weight}"},
	{name: "candidate farther than the nearest", memop: skids, leaf: "both_leaf", candidate: "both_load", address: heap, want: "{double -}"},
	{name: "candidate far away", memop: skids, leaf: "far_leaf", candidate: "far_load", address: heap, want: cell + ".{structure:pair}.{int high}"},
	{name: "exact", memop: exact, leaf: "straight_load", address: heap, want: cell + ".{long count}"},
	{name: "exact nested", memop: exact, leaf: "calls_load", address: heap, want: cell + ".{structure:pair}.{int low}"},
	{name: "behind", memop: behind, leaf: "straight_leaf", address: heap, want: cell + ".{long count}"},
	{name: "global", memop: skids, leaf: "global_leaf", global: "scalar", want: "{int scalar}"},
	{name: "global without an address", memop: skids, leaf: "global_leaf", want: "{int scalar}"},
	{name: "array", memop: skids, leaf: "element_leaf", global: "numbers", want: "{array[50]:long numbers}"},
	{name: "static", memop: skids, leaf: "statics_leaf", want: cell + ".{structure:pair}.{int high}"},
	{name: "the address contradicts", memop: exact, leaf: "straight_load", global: "scalar", want: cell + ".{long count}"},
	{name: "the address tells more", memop: exact, leaf: "untyped_load", global: "scalar", want: "{int scalar}"},
	{name: "registers changed, type known", memop: skids, leaf: "straight_leaf", address: 4, want: cell + ".{long count}"},

	{name: "stripped", memop: skids, leaf: "straight_leaf", into: strippedAt, address: heap, want: noDebugInfo},
	{name: "stripped, exact", memop: exact, leaf: "straight_load", into: strippedAt, address: heap, want: noDebugInfo},
	{name: "inside an instruction", memop: skids, leaf: "straight_leaf", into: 1, address: heap, want: noTarget},
	{name: "candidate elsewhere", memop: skids, leaf: "skids_leaf", candidate: "straight_load", address: heap, want: noTarget},
	{name: "candidate behind", memop: skids, leaf: "skids_load", candidate: "skids_leaf", address: heap, want: noTarget},
	{name: "jumped to", memop: skids, leaf: "crosses_leaf", address: heap, want: crossed},
	{name: "candidate before a target", memop: skids, leaf: "crosses_leaf", candidate: "crosses_load", address: heap, want: crossed},
	{name: "nothing described", memop: exact, leaf: "bare_load", address: heap, want: noDescriptor},
	{name: "no access", memop: exact, leaf: "computes_add", address: heap, want: noType},
	{name: "temporary", memop: skids, leaf: "spills_leaf", address: heap, want: notDetermined},
	{name: "untyped pointer", memop: exact, leaf: "untyped_load", address: heap, want: notDetermined},
	{name: "behind a call", memop: skids, leaf: "calls_leaf", address: heap, want: prevented},
	{name: "prevented when recorded", memop: skids, leaf: "straight_leaf", address: 2, want: prevented},
	{name: "too far", memop: skids, leaf: "far_leaf", address: heap, want: notFound},
	{name: "not found when recorded", memop: skids, leaf: "straight_leaf", address: 3, want: notFound},
	{name: "registers changed", memop: skids, leaf: "untyped_leaf", address: 4, want: changed},
	{name: "invalid when recorded", memop: skids, leaf: "straight_leaf", address: 5, want: invalid},
	{name: "invalid", memop: skids, leaf: "straight_leaf", address: noProgram, want: invalid},
}

// Tests counters with and without skid: which instruction accessed memory, its data object, and
// each reason why there is none (S27, S31).
func TestBacktracking(t *testing.T) {
	db := backtracked(t)
	for i, c := range counted {
		t.Run(c.name, func(t *testing.T) {
			metric := fmt.Sprintf("c%d", i)
			kinds := "'aggregate', 'element', 'scalar'"
			if reasons[c.want] {
				kinds = "'unknown_element'"
			}
			got := lines(t, db, fmt.Sprintf(`SELECT descriptor, value FROM data_object_metrics m WHERE mode = 'user' AND metric = '%s' AND kind IN (%s)
				AND NOT EXISTS (SELECT 1 FROM data_object_metrics c WHERE c.mode = 'user' AND c.metric = m.metric AND c.parent_id = m.data_object_id)`, metric, kinds))
			if d := cmp.Diff([]string{fmt.Sprint(c.want, " ", interval)}, got); d != "" {
				t.Error(d, lines(t, db, fmt.Sprintf(`SELECT descriptor, detail, method, agreement FROM data_object_functions WHERE mode = 'user' AND metric = '%s'`, metric)))
			}
			var want []string
			if reasons[c.want] {
				want = []string{fmt.Sprint(c.want, " ", interval)}
			}
			got = lines(t, db, fmt.Sprintf(`SELECT reason, value FROM unattributed WHERE mode = 'user' AND subject = 'data object' AND metric = '%s'`, metric))
			if d := cmp.Diff(want, got); d != "" {
				t.Error("unattributed", d)
			}
		})
	}
}

var reasons = map[string]bool{noDebugInfo: true, noTarget: true, crossed: true, noDescriptor: true, noType: true, notDetermined: true,
	prevented: true, notFound: true, changed: true, invalid: true}

// Among the events in counted, each reason occurs.
func TestAllReasons(t *testing.T) {
	met := map[string]bool{}
	for _, c := range counted {
		if reasons[c.want] {
			met[c.want] = true
		}
	}
	if len(met) != 10 {
		t.Errorf("%d of the 10 elements of <Unknown>", len(met))
	}
}

// interval is the number of events per sample.
const interval = 10007

// backtracked returns a store with the events of counted, each of a different counter.
func backtracked(t *testing.T) *queries.DB {
	t.Helper()
	dir := t.TempDir()
	if err := corpus.Data(dir); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "backtrack.er")
	e := gprofngtest.New(path)
	var p program
	for name, by := range map[string]uint64{"backtrack": 0, "backtrack_stripped": strippedAt} {
		content, err := os.ReadFile(filepath.Join(dir, "symfs/tmp/data/bin", name))
		if err != nil {
			t.Fatal(err)
		}
		if by == 0 {
			p = readProgram(t, content)
		}
		e.Segment(0, 0x400000+by, 0x1000, 0, 1, "/bin/"+name)
		e.Segment(0, 0x401000+by, 0x1000, 0x1000, 5, "/bin/"+name)
		e.Segment(0, 0x403000+by, 0x1000, 0, 3, "/bin/"+name)
		e.Archive("/bin/"+name, content)
	}
	for i, c := range counted {
		e.Counter(i, fmt.Sprintf("c%d", i), interval, c.memop)
	}
	e.Declare(schema.HWC, "")
	for i, c := range counted {
		address := int64(c.address)
		if c.global != "" {
			address = int64(p.at(t, c.global))
		}
		leaf := p.at(t, c.leaf) + c.into
		put(e, schema.HWC, 1, int64(i+1)*ms, e.Frame(leaf, p.at(t, "_start")+4), int64(i), interval, address, 0, int64(p.at(t, c.candidate)), 0, 40, 3)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return store(t, path)
}
