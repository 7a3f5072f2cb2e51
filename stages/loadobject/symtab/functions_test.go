package symtab

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/loadobject/columns"
	"stackmill/stages/loadobject/funcinfo"
)

// some returns functions of all kinds.
func some() (list []Function) {
	for i, kind := range kinds {
		name := fmt.Sprint("f", i)
		list = append(list, Function{
			Offset: uint64(0x100 * i), Address: 1<<63 - uint64(0x1000*i), Size: 1<<40 + uint64(i), Linkage: name, Aliases: name + Separator + "all",
			Name: name + "()", GprofngName: "g" + name, PerfName: "p" + name, Kind: kind, Module: int32(i % 3), Line: int32(i), Indirect: i%2 == 0,
		})
	}
	return list
}

// A table has the functions of its draft, also after it was written and read.
func TestFunctions(t *testing.T) {
	want := some()
	draft := Draft{Functions: slices.Clone(want)}
	table := draft.Finish()
	if draft.Functions != nil {
		t.Error("the table keeps what its draft had")
	}
	w := columns.NewWriter()
	table.Functions.Write(w)
	w.Text("end")
	r := columns.NewReader(w.Append(nil))
	read := ReadFunctions(r, 3)
	if r.Text() != "end" || !r.Whole() {
		t.Error("not all that was written was read")
	}
	for _, f := range []Functions{table.Functions, read} {
		if d := cmp.Diff(want, slices.Collect(f.All())); d != "" {
			t.Error(d)
		}
		if got := f.BySymbol("all"); len(got) != len(want) {
			t.Errorf("%v are linked", got)
		}
	}
	own := table.OfModule(1).Functions
	if d := cmp.Diff([]Function{want[1], want[4], want[7]}, slices.Collect(own.All())); d != "" {
		t.Error(d)
	}
	if got := own.ByName("f4()"); !slices.Equal(got, []int{1}) {
		t.Errorf("%v are named so", got)
	}
}

// The garbage collector need not follow hundreds of thousands of functions.
func TestFunctionsHaveNoPointers(t *testing.T) {
	for field := range reflect.TypeFor[function]().Fields() {
		switch field.Type.Kind() {
		case reflect.Uint64, reflect.Int32, reflect.Uint8, reflect.Bool:
		default:
			t.Errorf("%s is a %s", field.Name, field.Type)
		}
	}
}

// An encoding with an unknown kind or module is rejected.
func TestFunctionsOfUnknownKind(t *testing.T) {
	for name, x := range map[string]struct {
		kind    string
		modules int
		whole   bool
	}{"known": {string(funcinfo.Clone), 2, true}, "kind": {"sort of", 2, false}, "module": {string(funcinfo.Clone), 1, false}} {
		w := columns.NewWriter()
		w.Count(1)
		for _, n := range []uint64{0x10, 0, 5} {
			w.Uint(n)
		}
		for _, s := range []string{"f", "f", "f", "", "", x.kind} {
			w.Text(s)
		}
		w.Uint(1)
		w.Uint(0)
		w.Bool(false)
		w.Uint(uint64(funcinfo.BuildScope))
		r := columns.NewReader(w.Append(nil))
		if ReadFunctions(r, x.modules); r.Whole() != x.whole {
			t.Errorf("%s: whole: %v", name, r.Whole())
		}
	}
}
