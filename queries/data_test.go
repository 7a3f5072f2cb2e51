package queries

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/queries/storetest"
)

// TestDataViews compares views of a store with data objects with its description.
func TestDataViews(t *testing.T) {
	db := open(t, storetest.New(t, storetest.Data))
	const faults = "mode = 'user' AND metric = 'faults'"
	for _, test := range []struct {
		query string
		want  []string
	}{
		{"SELECT descriptor, kind, scope, value, samples FROM data_object_metrics WHERE " + faults + " ORDER BY ALL", []string{
			"<Scalars> scalars  1 1", "<Total> total  9 7", "<Unknown> unknown  1 1", "No type information unknown_element  1 1",
			"{int g} scalar a.c 1 1", "{structure:rec_t} aggregate app 6 4", "{structure:rec_t}.{long key} element app 1 1",
			"{structure:rec_t}.{structure:inner_t} element app 3 1", "{structure:rec_t}.{structure:inner_t}.{int tag} element app 3 1",
			"{structure:rec_t}.{unsigned_int:5 rest} element app 1 1", "{union:u} aggregate app 1 1", "{union:u}.{int i} element app 1 1"}},
		{"SELECT mode, descriptor, value FROM data_object_metrics WHERE metric = 'dcm' AND mode <> 'user' AND kind <> 'total' ORDER BY ALL", []string{
			"expert <Unknown> 10", "expert Backtracking did not find trigger PC 10", "machine <Unknown> 10", "machine Backtracking did not find trigger PC 10"}},
		{"SELECT descriptor, position, kind, member, member_offset, size, bit_offset, bit_size, cache_line, value FROM data_layout WHERE " + faults + " ORDER BY ALL", []string{
			"{structure:rec_t} 0 aggregate  0 40 0 0 0 1",
			"{structure:rec_t} 1 member {long key} 0 8 0 0 0 1",
			"{structure:rec_t} 2 hole  8 8 0 0 0 0",
			"{structure:rec_t} 3 member {structure:inner_t} 16 8 0 0 0 3",
			"{structure:rec_t} 4 bit field {unsigned_int:3 flag} 24 1 0 3 0 0",
			"{structure:rec_t} 5 hole  24 1 3 1 0 0",
			"{structure:rec_t} 6 bit field {unsigned_int:5 rest} 24 2 4 5 0 1",
			"{structure:rec_t} 7 hole  25 15 1 119 0 0",
			"{structure:rec_t}.{structure:inner_t} 1 member {int tag} 0 4 0 0 0 3",
			"{union:u} 1 member {float f} 0 4 0 0 0 0",
			"{union:u} 2 member {int i} 0 4 0 0 0 1",
			"{union:u} 3 hole  4 4 0 0 0 0"}},
		{"SELECT kind, address, size, name, load_object, value, samples, threads, objects FROM memory_objects WHERE " + faults + " ORDER BY ALL", []string{
			"cache line 65536 64 [heap]  5 3 2 3", "cache line 65600 64 [heap]  1 1 1 1", "cache line 65664 64 [heap]  1 1 1 1",
			"cache line 135168 64 app app 1 1 1 1", "heap 61440 131072 [heap]  7 5 2 5",
			"page 65536 4096 [heap]  7 5 2 5", "page 135168 4096 app app 1 1 1 1", "segment 135168 4096 app app 1 1 1 1"}},
		{"SELECT count(*) FROM memory_objects WHERE metric = 'dcm'", []string{"0"}},
		{"SELECT descriptor, function, load_object, file, line, code_offset, method, detail, agreement, value, samples, inlined FROM data_object_functions WHERE " + faults + " ORDER BY ALL", []string{
			"No type information    0 <nil>  instruction fetch unchecked 1 1 ",
			"{int g} main app a.c 10 4112 global  agrees 1 1 ",
			"{structure:rec_t} main app a.c 10 4112 variable  agrees 1 1 ",
			"{structure:rec_t}.{long key} main app a.c 10 4112 variable  agrees 1 1 ",
			"{structure:rec_t}.{structure:inner_t}.{int tag} f app a.c 20 4176 register in %rdi unchecked 3 1 main:5",
			"{structure:rec_t}.{unsigned_int:5 rest} main app a.c 10 4112 variable  agrees 1 1 ",
			"{union:u}.{int i} main app a.c 10 4112 address  unchecked 1 1 "}},
		{"SELECT metric, subject, reason, load_object, value FROM unattributed WHERE mode = 'user' ORDER BY ALL", []string{
			"dcm data object Backtracking did not find trigger PC  10", "faults data object No type information  1"}},
	} {
		if diff := cmp.Diff(test.want, rows(t, db.DB, test.query)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", test.query, diff)
		}
	}
	p, err := Check(context.Background(), db.Store, CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range p.Wrong {
		t.Error(w)
	}
}

// TestBrokenDataSums breaks one number at a time, and looks for the broken sums
// and invariants.
func TestBrokenDataSums(t *testing.T) {
	views, err := Views()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ old, new, sums, invariants string }{
		{"  faults 1030 0 global '' agrees 1 1\n", "  faults 1030 0 global '' agrees 2 1\n", "data objects", "samples_recomputed"},
		{"  5 1030 111 global 302 agrees\n", "", "samples with data objects", "samples_recomputed"},
		{"  5 1030 111 global 302 agrees\n", "  5 1030 111 global 302 agrees\n  9 1030 111 global 302 agrees\n", "samples with data objects", ""},
		{"  5 1030 111 global 302 agrees\n", "  5 1030 111 global 302 disagrees\n", "<nil>", "samples_recomputed"},
		{"  5 1030 111 global 302 agrees\n", "  5 1030 111 global 303 agrees\n", "<nil>", "references"},
		{"  1030 1002 {int~g} scalar", "  1030 1001 {int~g} scalar", "<nil>", "parents"},
		{"  1013 1012 {structure:rec_t}.{structure:inner_t}.{int~tag} element", "  1013 null {structure:rec_t}.{structure:inner_t}.{int~tag} element",
			"<nil>", "parents parts"},
		{"  1004 1003 No~type~information unknown_element", "  1004 1003 No~type~information element", "unattributed data objects", "parents parts"},
		{" key long 0 8 8 0 0\n", " key long -8 8 8 0 0\n", "<nil>", "holes"},
		{"  faults 1010 0 variable '' agrees 1 1\n", "  faults 1010 0 variable '' agrees -1 1\n", "data objects", "children samples_recomputed"},
	} {
		if strings.Count(storetest.Data, test.old) != 1 {
			t.Fatalf("%q is not once in the store", test.old)
		}
		db := open(t, storetest.New(t, strings.Replace(storetest.Data, test.old, test.new, 1)))
		got := rows(t, db.DB, "SELECT string_agg(DISTINCT what, ', ' ORDER BY what) FROM conservation")
		var broken []string
		for _, v := range views {
			for _, i := range v.Invariants {
				if strings.Contains(v.SQL, "data_") && v.Name != "conservation" && len(rows(t, db.DB, i.SQL)) > 0 {
					broken = append(broken, i.Name)
				}
			}
		}
		if diff := cmp.Diff([]string{test.sums, test.invariants}, append(got, strings.Join(broken, " "))); diff != "" {
			t.Errorf("with %q as %q: (-want +got)\n%s", test.old, test.new, diff)
		}
	}
}

// The length of cache lines is the recorded one, and assumed only if none was recorded.
func TestLineSize(t *testing.T) {
	const without = "samples status\n  faults.data perf box app 4096 null 8ms 1 8 complete"
	if !strings.Contains(storetest.Data, without) {
		t.Fatal("another experiment")
	}
	const (
		lines  = "SELECT address, size, size_source FROM memory_objects WHERE mode = 'user' AND metric = 'faults' AND kind = 'cache line' ORDER BY ALL"
		pages  = "SELECT DISTINCT kind, size_source FROM memory_objects WHERE kind <> 'cache line' ORDER BY ALL"
		layout = "SELECT member_offset, cache_line, line_size, line_size_source FROM data_layout WHERE mode = 'user' AND metric = 'faults' AND member = '{unsigned_int:5 rest}'"
	)
	regions := []string{"heap ", "page ", "segment "}
	for _, x := range []struct {
		recorded              string
		lines, pages, layouts []string
	}{
		{"null", []string{"65536 64 assumed", "65600 64 assumed", "65664 64 assumed", "135168 64 assumed"}, regions, []string{"24 0 64 assumed"}},
		{"16", []string{"65536 16 recorded", "65552 16 recorded", "65600 16 recorded", "65664 16 recorded", "135168 16 recorded"}, regions, []string{"24 1 16 recorded"}},
		{"256", []string{"65536 256 recorded", "135168 256 recorded"}, regions, []string{"24 0 256 recorded"}},
	} {
		db := open(t, storetest.New(t, strings.Replace(storetest.Data, without, strings.Replace(without, "status", "status cache_line_size", 1)+" "+x.recorded, 1)))
		for query, want := range map[string][]string{lines: x.lines, pages: x.pages, layout: x.layouts} {
			if d := cmp.Diff(want, rows(t, db.DB, query)); d != "" {
				t.Errorf("%s: %s: %s", x.recorded, query, d)
			}
		}
	}
}
