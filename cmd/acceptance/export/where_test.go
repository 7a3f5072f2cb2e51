package export

import (
	"testing"

	"github.com/google/pprof/profile"

	gocmp "github.com/google/go-cmp/cmp"

	"stackmill/queries"
	"stackmill/queries/export"
)

// An export of a filtered session has the values of its reports, in each format.
func TestFiltered(t *testing.T) {
	db := only(t, "threads.er")
	filter := queries.Filter{Where: []string{"thread_id > 1"}, Between: []string{"100ms,"}}
	all, err := db.Filter(t.Context(), filter)
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	whole, left := total(t, db, "totalcpu", "user"), total(t, all, "totalcpu", "user")
	if left == 0 || left == whole {
		t.Fatalf("%d of %d", left, whole)
	}
	for _, as := range export.Formats() {
		r := export.Request{As: as, Metric: "totalcpu"}
		session, err := db.Filter(t.Context(), filter, r.Reads()...)
		if err != nil {
			t.Fatal(err)
		}
		data := exported(t, session, r)
		if diff := gocmp.Diff(data, exported(t, all, r)); diff != "" {
			t.Errorf("%s: a session made for it has other values", as)
		}
		if as == "pprof" {
			p, err := profile.ParseData(data)
			if err != nil {
				t.Fatal(err)
			}
			want := reported(t, all, "function_metrics", "concat_ws('|', f.name, COALESCE(NULLIF(f.linkage_name, ''), f.name), o.path)", "totalcpu", "user")
			if diff := gocmp.Diff(functionsOf(p, 0, false), withoutTotal(want)); diff != "" {
				t.Errorf("-profile +report\n%s", diff)
			}
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}
}

// If a filter leaves nothing of the first metric, the next one is exported.
func TestFilteredMetric(t *testing.T) {
	db := only(t, "io.er")
	r := export.Request{As: "folded"}
	session, err := db.Filter(t.Context(), queries.Filter{Where: []string{"stack_has('write') AND NOT stack_has('read')"}}, r.Reads()...)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for whose, on := range map[string]*queries.DB{"ioreadbytes": db, "iowritebytes": session} {
		if first := exported(t, on, r); string(first) != string(exported(t, on, export.Request{As: "folded", Metric: whose})) {
			t.Errorf("not %s is exported, but\n%s", whose, first)
		}
	}
}
