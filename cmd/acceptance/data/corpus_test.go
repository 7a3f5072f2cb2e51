package data

import (
	"database/sql"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// touched has the number of pages that data1.c touches, by data object (S28, S30). Each function
// causes one more fault, for its own code.
var touched = map[string]int{
	"{structure:rec_t}":                                          50,
	"{structure:rec_t}.{long key}":                               20,
	"{structure:rec_t}.{structure:inner_t}":                      30,
	"{structure:rec_t}.{structure:inner_t}.{int tag}":            15,
	"{structure:rec_t}.{structure:inner_t}.{union:u}":            15,
	"{structure:rec_t}.{structure:inner_t}.{union:u}.{double d}": 10,
	"{structure:rec_t}.{structure:inner_t}.{union:u}.{long l}":   5,
	"{array[32]:array[512]:double matrix}":                       32,
	"{array[65536]:char bytes}":                                  16,
	"{int scalar_g}":                                             1,
	"{long scalar_s}":                                            1,
	"{structure:node_t}":                                         39,
	"{structure:node_t}.{double weight}":                         12,
	"{structure:node_t}.{int count}":                             18,
	"{structure:node_t}.{pointer+structure:node_t next}":         9,
	"{array[98304]:volatile+char big}":                           23, // of its 24 pages, one has other frames, too
}

// Page faults with addresses show exactly which object was touched.
func TestTouchedPages(t *testing.T) {
	for _, name := range []string{"p_data", "p_data_phys"} {
		t.Run(name, func(t *testing.T) {
			got := map[string]int{}
			query(t, func(r *sql.Rows) error {
				var descriptor string
				var n int
				err := r.Scan(&descriptor, &n)
				if _, ok := touched[descriptor]; ok {
					got[descriptor] += n
				}
				return err
			}, `SELECT descriptor, value FROM data_object_metrics WHERE mode = 'user' AND metric NOT LIKE '%.samples' AND experiment = ?`, name+".data")
			if d := cmp.Diff(touched, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// The other page faults in the program's functions are for their code, for the table that is read
// from the file, and for a constant that the compiler made.
func TestOtherPages(t *testing.T) {
	for _, name := range []string{"p_data", "p_data_phys"} {
		query(t, func(r *sql.Rows) error {
			var function, descriptor, detail string
			var n int
			if err := r.Scan(&function, &descriptor, &detail, &n); err != nil {
				return err
			}
			if touched[descriptor] == 0 && detail != "instruction fetch" && detail != "constant without a name" && !(function == "touch_ro" && descriptor == "{array[32768]:const+char ro_tab}") {
				t.Errorf("%s: %d times %s in %s, %q", name, n, descriptor, function, detail)
			}
			return nil
		}, `SELECT "function", descriptor, detail, sum(samples) FROM data_object_functions
			WHERE mode = 'user' AND metric NOT LIKE '%.samples' AND experiment = ? AND load_object = 'data' AND "function" IN
				('touch_keys', 'touch_tags', 'touch_union', 'touch_matrix', 'touch_bytes', 'touch_scalars', 'touch_ro', 'heap_nodes', 'heap_malloc', 'locals')
				GROUP BY ALL`, name+".data")
	}
}

// The functions that touch a watched member hit it once per call; the recorded PC is the one after
// the access (S27).
func TestWatchedMember(t *testing.T) {
	got := map[string]int{}
	query(t, func(r *sql.Rows) error {
		var function, descriptor string
		var n int
		err := r.Scan(&function, &descriptor, &n)
		got[function+" "+descriptor] += n
		return err
	}, `SELECT "function", descriptor, value FROM data_object_functions WHERE mode = 'user' AND metric NOT LIKE '%.samples' AND experiment = 'p_watch.data'`)
	const hits = " {structure:stat_t}.{int hits}"
	if d := cmp.Diff(map[string]int{"add_hit" + hits: 600, "add_two" + hits: 200, "look" + hits: 600}, got); d != "" {
		t.Error(d)
	}
}

// Layouts use the recorded size of cache lines, here 64 bytes. If it was not recorded, they assume
// 64 bytes and say so.
func TestRecordedLines(t *testing.T) {
	recorded := 0
	query(t, func(r *sql.Rows) error {
		var experiment, source string
		var size, line int64
		err := r.Scan(&experiment, &size, &line, &source)
		want := "assumed" // machines may hide their caches from perf
		if size == 64 {
			want = "recorded"
			recorded++
		}
		if size != 64 && size != 0 || line != 64 || source != want {
			t.Errorf("%s: %d, in layouts %d %s", experiment, size, line, source)
		}
		return err
	}, `SELECT DISTINCT l.experiment, COALESCE(e.cache_line_size, 0), l.line_size, l.line_size_source FROM data_layout l JOIN experiments e USING (experiment_id)`)
	if recorded == 0 {
		t.Error("no recording has the size of cache lines")
	}
}
