package filter

import (
	"fmt"
	"maps"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/google/go-cmp/cmp"

	"stackmill/schema"
	"stackmill/stages/attribute"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// experiment has stacks of main of the program, and of open, read and free of a library: open
// calls read, and a thread starts in free.
func experiment() *attribute.Result {
	p := program.New()
	total := p.AddObject(program.Object{ID: 1, Name: program.Total, Kind: "artificial"})
	app := p.AddObject(program.Object{ID: 2, Name: "app", Kind: "elf"})
	lib := p.AddObject(program.Object{ID: 3, Name: "lib", Kind: "elf"})
	top := p.InternFunction(program.Function{Object: total, Module: p.InternModule(total, "", ""), Name: program.Total}, 0)
	at := map[string]program.LocationNo{}
	for n, f := range []struct {
		name   string
		object program.ObjectNo
	}{{"main", app}, {"open", lib}, {"read", lib}, {"free", lib}} {
		number := p.InternFunction(program.Function{Object: f.object, Module: p.InternModule(f.object, "", ""), Name: f.name, Address: uint64(n) * 16, Size: 16}, 0)
		at[f.name] = p.InternLocation(number, uint64(n)*16, "", func() funcinfo.Place { return funcinfo.Place{} })
	}
	p.Inlines = make([][]program.Level, p.Locations.Len())
	stacks := attribute.NewStacks()
	for _, names := range [][]string{{"main"}, {"main", "open"}, {"main", "open", "read"}, {"main", "open", "read", "main"}, {"free"}, {"free", "main"}} {
		r := attribute.RecordedStack{}
		for _, name := range names {
			f := stacktree.NewFrame()
			f.Own, f.Shown = at[name], [stacktree.Modes]program.LocationNo{at[name], at[name], at[name]}
			r.Node = stacks.Tree.Add(r.Node, &f)
		}
		stacks.Recorded = append(stacks.Recorded, r)
	}
	stacks.Renumber(stacks.OrderNodes(), stacks.OrderFrames(p.Order()))
	sums := attribute.NewSums([]schema.Metric{{Name: "time"}})
	for n := range stacks.Recorded {
		sums.At(attribute.RecordedStackNo(n), 0).Add(1 << n)
	}
	return &attribute.Result{ExperimentID: "e", Program: p, Total: top, Stacks: stacks, Sums: sums}
}

// Hidden functions' values go to their callers or, without a caller, to the library as a whole.
func TestLeaveOut(t *testing.T) {
	for _, test := range []struct {
		name string
		of   map[string]Visibility // by library
		want map[string]string     // by function: exclusive and inclusive values
	}{
		{"everything", nil,
			map[string]string{program.Total: "63 63", "main": "41 47", "open": "2 14", "read": "4 12", "free": "16 48"}},
		{"a library", map[string]Visibility{"lib": Nothing},
			map[string]string{program.Total: "63 63", "main": "47 47", "<lib>": "16 48"}},
		{"all but its entry points", map[string]Visibility{"lib": EntryPoints},
			map[string]string{program.Total: "63 63", "main": "41 47", "open": "6 14", "free": "16 48"}},
		{"the program", map[string]Visibility{"app": Nothing},
			map[string]string{program.Total: "63 63", "<app>": "1 15", "open": "2 14", "read": "12 12", "free": "48 48"}},
		{"all", map[string]Visibility{"app": Nothing, "lib": Nothing},
			map[string]string{program.Total: "63 63", "<app>": "15 15", "<lib>": "48 48"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := experiment()
			names := map[int32]string{}
			for n, f := range r.Program.Functions {
				names[int32(n)] = f.Name
			}
			got, rows := map[string]string{}, map[string]int64{}
			collect := func(table *schema.Table, b arrow.RecordBatch) error {
				rows[table.Name] += b.NumRows()
				for i := range int(b.NumRows()) {
					value := func(column string) string { return schema.Events{RecordBatch: b}.Column(column).ValueStr(i) }
					var n int32
					if table == StandIns || table == schema.FunctionValues {
						fmt.Sscan(value("function_no"), &n)
					}
					switch table {
					case StandIns:
						names[n] = value("name")
					case schema.FunctionValues:
						got[names[n]] = value("exclusive") + " " + value("inclusive")
					}
				}
				return nil
			}
			all := func(*schema.Table) bool { return true }
			if err := leaveOut(r, func(name, _ string) Visibility { return test.of[name] }, all, collect); err != nil {
				t.Fatal(err)
			}
			changed := maps.Clone(rows)
			if err := values(r, all, collect); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if (test.of == nil) != (len(changed) == 0) || test.of != nil && changed[Leaves.Name] != int64(len(r.Stacks.Recorded)) {
				t.Errorf("rows of tables of the session: %v", changed)
			}
		})
	}
}
