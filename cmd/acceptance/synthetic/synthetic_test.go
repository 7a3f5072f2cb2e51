// Package synthetic queries the views of composed experiments, with content that no machine at hand
// can record.
package synthetic

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/pipeline"
	"stackmill/queries"
	"stackmill/schema"
	"stackmill/stages/decode/gprofng/gprofngtest"
	"stackmill/stages/loadobject/elf/elftest"
)

const (
	ms = 1_000_000

	// Functions of the synthetic programs: generated code, so that they need no files.
	base     = 0x10000
	pcMain   = base + 0x000 + 4
	pcWork   = base + 0x100 + 4
	pcWait   = base + 0x200 + 4
	nowhere  = 0x77777777
	javaMain = 0x51
	javaRun  = 0x52
)

// mapProgram maps the functions main, work and wait.
func mapProgram(e *gprofngtest.Experiment) {
	for i, f := range []string{"main", "work", "wait"} {
		e.Function(0, base+uint64(i)*0x100, 0x100, f)
	}
}

// put writes a packet of the kind's usual layout.
func put(e *gprofngtest.Experiment, kind schema.Kind, layout int, time int64, stack uint64, values ...int64) {
	e.Events(kind).Put(0, &e.Layouts(kind)[layout], gprofngtest.Packet{Thread: 7, CPU: 1, Time: time, Stack: stack, Values: values})
}

// synthetic are experiments that cannot be recorded here. Each has a query whose result follows
// from the written events.
var synthetic = []struct {
	name     string
	build    func(e *gprofngtest.Experiment)
	question string // over the views
	answer   []string
}{
	{
		"hardware-counters",
		func(e *gprofngtest.Experiment) {
			mapProgram(e)
			e.Counter(0, "insts", 1000003, `memop="0"`)
			e.Counter(1, "dcm", 10007, `memop="3"`)
			e.Declare(schema.HWC, "")
			work, wait := e.Frame(pcWork, pcMain), e.Frame(pcWait, pcMain)
			put(e, schema.HWC, 0, 1*ms, work, 0, 1000003)
			put(e, schema.HWC, 0, 2*ms, wait, 0, 1000003)
			put(e, schema.HWC, 0, 3*ms, wait, 0, -1<<63) // an invalid sample
			put(e, schema.HWC, 1, 4*ms, work, 1, 10007, 0x7000, 0x9000, pcWork, pcWork, 40, 3)
		},
		`SELECT metric, function, exclusive, inclusive FROM function_metrics WHERE mode = 'user' ORDER BY ALL`,
		[]string{"dcm <Total> 10007 10007", "dcm main 0 10007", "dcm work 10007 10007",
			"insts <Total> 2000006 2000006", "insts main 0 2000006", "insts wait 1000003 1000003", "insts work 1000003 1000003"},
	},
	{
		"memory-samples",
		func(e *gprofngtest.Experiment) {
			mapProgram(e)
			e.Counter(0, "insts", 1000003, "")
			e.Counter(1, "dcm", 10007, `memop="3"`)
			e.Declare(schema.HWC, "")
			work := e.Frame(pcWork, pcMain)
			put(e, schema.HWC, 0, 1*ms, work, 0, 1000003)
			put(e, schema.HWC, 1, 2*ms, work, 1, 10007, 0x7000, 0x9000, pcWork, 0, 40, 3)
		},
		`SELECT counter, value, data_address, physical_address, trigger_pc, latency, data_source FROM hwc_samples ORDER BY sample`,
		[]string{"insts 1000003 - - - - -", fmt.Sprintf("dcm 10007 %d %d %d 40 3", 0x7000, 0x9000, pcWork)},
	},
	{
		"memory-samples-without-debug-information",
		func(e *gprofngtest.Experiment) {
			mapProgram(e)
			e.Counter(0, "insts", 1000003, `memop="0"`)
			e.Counter(1, "dcm", 10007, `memop="3"`)
			e.Declare(schema.HWC, "")
			work := e.Frame(pcWork, pcMain)
			put(e, schema.HWC, 0, 1*ms, work, 0, 1000003)
			put(e, schema.HWC, 1, 2*ms, work, 1, 10007, 0x7000, 0, 0, 0, 0, 0)
			put(e, schema.HWC, 1, 3*ms, work, 1, 10007, 3, 0, 0, 0, 0, 0)       // a code
			put(e, schema.HWC, 1, 4*ms, work, 1, -1<<63, 0x7000, 0, 0, 0, 0, 0) // an invalid sample
		},
		`SELECT d.sample, o.descriptor, f.name, r.kind FROM data_samples d JOIN data_objects o USING (experiment_id, data_object_id)
		 JOIN locations_wide l USING (experiment_id, location_id) JOIN functions f USING (experiment_id, function_id)
		 LEFT JOIN memory_regions r USING (experiment_id, memory_region_id)
		 UNION ALL SELECT NULL, metric, CASE WHEN data_objects THEN 'has data objects' ELSE 'has none' END, '' FROM metrics ORDER BY ALL`,
		[]string{"1 Module with trigger PC not compiled with -xhwcprof work unknown", "2 Backtracking did not find trigger PC work -",
			"- dcm has data objects ", "- insts has none "},
	},
	{
		"memory-samples-of-heap-blocks",
		func(e *gprofngtest.Experiment) {
			mapProgram(e)
			e.Counter(0, "dcm", 10007, `memop="3"`)
			e.Declare(schema.HWC, "")
			e.Declare(schema.Heap, "")
			work := e.Frame(pcWork, pcMain)
			put(e, schema.Heap, 0, 1*ms, work, 0, 64, 0x7000, 0)
			put(e, schema.HWC, 1, 2*ms, work, 0, 10007, 0x7010, 0, 0, 0, 0, 0)
			put(e, schema.HWC, 1, 3*ms, work, 0, 10007, 0x7040, 0, 0, 0, 0, 0) // after the block
			put(e, schema.Heap, 0, 4*ms, work, 1, 0, 0x7000, 0)
			put(e, schema.HWC, 1, 5*ms, work, 0, 10007, 0x7010, 0, 0, 0, 0, 0) // freed
		},
		`SELECT kind, address, size, samples FROM memory_objects WHERE mode = 'user' AND kind NOT IN ('page', 'cache line') ORDER BY ALL`,
		[]string{fmt.Sprintf("heap block %d 64 1", 0x7000), "unknown 0 0 2"},
	},
	{
		"clock-states",
		func(e *gprofngtest.Experiment) {
			mapProgram(e)
			e.Declare(schema.Clock, `ptimer="1000" numstates="10"`)
			work, wait := e.Frame(pcWork, pcMain), e.Frame(pcWait, pcMain)
			put(e, schema.Clock, 0, 1*ms, work, 0, 3) // 3 ticks in user mode
			put(e, schema.Clock, 0, 2*ms, work, 1, 1) // system
			put(e, schema.Clock, 0, 3*ms, wait, 7, 5) // sleep
			put(e, schema.Clock, 0, 4*ms, wait, 6, 2) // user lock
		},
		`SELECT metric, function, exclusive // 1000000 FROM function_metrics WHERE mode = 'user' AND exclusive > 0 AND function <> 'main' ORDER BY ALL`,
		[]string{"lock <Total> 2", "lock wait 2", "sleep <Total> 5", "sleep wait 5", "system <Total> 1", "system work 1",
			"total <Total> 11", "total wait 7", "total work 4", "totalcpu <Total> 4", "totalcpu work 4", "user <Total> 3", "user work 3"},
	},
	{
		"old-clock-packets",
		func(e *gprofngtest.Experiment) {
			mapProgram(e)
			e.Declare(schema.Clock, `ptimer="1000" numstates="10"`, e.Layouts(schema.Clock)[1])
			put(e, schema.Clock, 1, 1*ms, e.Frame(pcWork, pcMain), 4, 2, 0, 0, 0, 0, 0, 3, 0, 0)
		},
		`SELECT metric, value // 1000000 FROM process_metrics WHERE mode = 'user' AND value > 0 ORDER BY ALL`,
		[]string{"sleep 3", "system 2", "total 9", "totalcpu 6", "user 4"},
	},
	{
		"openmp-states",
		func(e *gprofngtest.Experiment) {
			mapProgram(e)
			e.Declare(schema.Clock, `ptimer="1000" numstates="10"`)
			e.Declare(schema.OMP, "")
			native := gprofngtest.Native(pcWait, pcMain)
			working := e.FrameWith(1, gprofngtest.Native(pcWork, pcMain), gprofngtest.OpenMP(2, pcWork, pcMain))
			barrier := e.FrameWith(2, native, gprofngtest.OpenMP(3, pcWork, pcMain))
			put(e, schema.Clock, 0, 1*ms, working, 0, 4)
			put(e, schema.Clock, 0, 2*ms, barrier, 0, 2)
		},
		`SELECT mode, metric, function, exclusive // 1000000 FROM function_metrics
		 WHERE metric IN ('totalcpu', 'ompwork', 'ompwait') AND exclusive > 0 AND function <> '<Total>' AND mode <> 'expert' ORDER BY ALL`,
		[]string{"machine ompwait wait 2", "machine ompwork work 4", "machine totalcpu wait 2", "machine totalcpu work 4",
			"user ompwait <OMP-implicit_barrier> 2", "user ompwork work 4", "user totalcpu <OMP-implicit_barrier> 2", "user totalcpu work 4"},
	},
	{
		"java",
		func(e *gprofngtest.Experiment) {
			mapProgram(e)
			e.Declare(schema.Clock, `ptimer="1000" numstates="10"`)
			e.Class(javaMain, "Ldemo/Main;", "Main.java")
			e.Method(javaMain, javaMain, "main", "([Ljava/lang/String;)V")
			e.Method(javaMain, javaRun, "run", "(IJ)V")
			e.JavaThread(7, "main", "main", 0, 0)
			stack := e.FrameWith(1, gprofngtest.Native(pcWork, pcMain),
				gprofngtest.Java(gprofngtest.JavaFrame{BCI: 3, Method: javaRun}, gprofngtest.JavaFrame{BCI: 9, Method: javaMain}))
			put(e, schema.Clock, 0, 1*ms, stack, 0, 5)
			put(e, schema.Clock, 0, 2*ms, e.Frame(pcWait, pcMain), 0, 2) // no Java stack
			e.Events(schema.Clock).Put(0, &e.Layouts(schema.Clock)[0],   // a thread that Java does not know
				gprofngtest.Packet{Thread: 8, Time: 3 * ms, Stack: e.Frame(pcWait, pcMain), Values: []int64{0, 1}})
		},
		`SELECT mode, function, kind, exclusive // 1000000, inclusive // 1000000 FROM function_metrics
		 WHERE metric = 'totalcpu' AND mode <> 'expert' AND function <> '<Total>' ORDER BY ALL`,
		[]string{"machine main dynamic 0 8", "machine wait dynamic 3 3", "machine work dynamic 5 5",
			"user <JVM-System> artificial 1 1", "user <no Java callstack recorded> artificial 2 2",
			"user demo.Main.main(java.lang.String[]) java 0 5", "user demo.Main.run(int, long) java 5 5"},
	},
	{
		"big-endian-32-bit",
		func(e *gprofngtest.Experiment) {
			mapProgram(e)
			e.Declare(schema.Clock, `ptimer="1000" numstates="10"`)
			mark := uint64(0xFFFFFFFF)
			put(e, schema.Clock, 0, 1*ms, e.Frame(pcWork, mark, pcWait, pcMain), 0, 3)  // the return register is the caller
			put(e, schema.Clock, 0, 2*ms, e.Frame(pcWork, mark, nowhere, pcMain), 0, 4) // not in any load object
			put(e, schema.Clock, 0, 3*ms, e.Frame(pcWork, 0xFFFFFFFE), 0, 1)            // truncated
		},
		`SELECT relation, other, attributed // 1000000 FROM callers_callees WHERE metric = 'totalcpu' AND mode = 'user' AND function = 'work' ORDER BY ALL`,
		[]string{"caller <Truncated-stack> 1", "caller main 4", "caller wait 3", "self work 8"},
	},
	{
		"linked-stacks",
		func(e *gprofngtest.Experiment) {
			mapProgram(e)
			e.Declare(schema.Clock, `ptimer="1000" numstates="10"`)
			forward := e.FrameWith(1, gprofngtest.Linked(100, pcWork)) // 100 is defined later
			lost := e.FrameWith(2, gprofngtest.Linked(999, pcWork))    // 999 is not
			e.Fragment(100, 0, pcWait, pcMain)
			backward := e.FrameWith(3, gprofngtest.Reference(100))
			put(e, schema.Clock, 0, 1*ms, forward, 0, 1)
			put(e, schema.Clock, 0, 2*ms, lost, 0, 2)
			put(e, schema.Clock, 0, 3*ms, backward, 0, 4)
			put(e, schema.Clock, 0, 4*ms, 12345, 0, 8) // no such stack
			put(e, schema.Clock, 0, 5*ms, 0, 0, 16)    // no stack
		},
		`SELECT function, relation, other, attributed // 1000000 FROM callers_callees WHERE metric = 'totalcpu' AND mode = 'user' AND relation = 'caller'
		 UNION ALL SELECT 'unattributed', reason, '', value // 1000000 FROM unattributed WHERE metric = 'totalcpu' AND mode = 'user' ORDER BY ALL`,
		[]string{"main caller <Total> 5", "unattributed call stack missing in the recording  8", "unattributed no call stack recorded  16",
			"wait caller main 5", "work caller <Total> 2", "work caller wait 1"},
	},
	{
		"overlapping-maps",
		func(e *gprofngtest.Experiment) {
			e.Function(0, 0x1000, 0x1000, "old")
			e.Function(10*ms, 0x1800, 0x1000, "new") // over the upper half
			e.Unmap(20*ms, 0x1800)
			e.Function(30*ms, 0x1000, 0x1000, "third")
			e.Declare(schema.Clock, `ptimer="1000" numstates="10"`)
			low, high := e.Frame(0x1004), e.Frame(0x1904)
			put(e, schema.Clock, 0, 5*ms, high, 0, 1)   // old
			put(e, schema.Clock, 0, 15*ms, low, 0, 2)   // old
			put(e, schema.Clock, 0, 16*ms, high, 0, 4)  // new
			put(e, schema.Clock, 0, 40*ms, low, 0, 8)   // third
			put(e, schema.Clock, 0, 41*ms, high, 0, 16) // third
		},
		`SELECT function, exclusive // 1000000 FROM function_metrics WHERE metric = 'totalcpu' AND mode = 'user' AND function <> '<Total>' ORDER BY ALL`,
		[]string{"new 4", "old 3", "third 24"},
	},
	{
		"races-and-deadlocks",
		func(e *gprofngtest.Experiment) {
			mapProgram(e)
			e.Declare(schema.Race, "")
			e.Declare(schema.Deadlock, "")
			put(e, schema.Race, 0, 1*ms, e.Frame(pcMain), 1, 5, pcWork, 0x8000, 3) // the event has the leaf
			put(e, schema.Deadlock, 0, 2*ms, e.Frame(pcWait, pcMain), 1, 2, 6, 0x8100)
		},
		`SELECT metric, function, exclusive, inclusive FROM function_metrics WHERE mode = 'machine' AND function <> '<Total>' ORDER BY ALL`,
		[]string{"deadlocks main 0 1", "deadlocks wait 1 1", "raccess main 0 3", "raccess work 3 3"},
	},
	{
		"kernel",
		func(e *gprofngtest.Experiment) {
			const kernel, symbols = 0xffffffff81000000, "[kernel.kallsyms]"
			mapProgram(e)
			e.DynamicFunction(symbols, "asm_exc_page_fault", kernel, 0x100)
			e.DynamicFunction(symbols, "do_page_fault", kernel+0x100, 0x100)
			e.Function(0, kernel, 0x1000, symbols)
			e.Declare(schema.Clock, `ptimer="1000" numstates="2"`)
			put(e, schema.Clock, 0, 1*ms, e.Frame(kernel+0x140, kernel+0x40, pcWork, pcMain), 1, 2)
			put(e, schema.Clock, 0, 2*ms, e.Frame(pcWork, pcMain), 0, 1)
			put(e, schema.Clock, 0, 3*ms, e.Frame(0xffffffffa0000000, pcWait, pcMain), 1, 4) // a module without symbols
			put(e, schema.Clock, 0, 4*ms, e.Frame(kernel+0x140), 1, 8)                       // no program
		},
		`SELECT mode, function, kind, exclusive // 1000000, inclusive // 1000000 FROM function_metrics
		 WHERE metric = 'totalcpu' AND mode <> 'expert' AND function <> '<Total>'
		 UNION ALL SELECT mode, reason, 'reason', value // 1000000, 0 FROM unattributed WHERE metric = 'totalcpu' AND mode = 'expert'
		 UNION ALL SELECT 'user', name || ' calls', rule, count(*), 0 FROM frames JOIN functions USING (experiment_id, function_id)
		 JOIN mode_stacks USING (experiment_id, stack_id) WHERE mode = 'user' AND rule <> '' GROUP BY ALL ORDER BY ALL`,
		[]string{
			"expert PC in the kernel, whose functions are not recorded reason 4 0",
			"machine <Unknown> unknown 4 4", "machine asm_exc_page_fault kernel 0 2", "machine do_page_fault kernel 10 10",
			"machine main dynamic 0 7", "machine wait dynamic 0 4", "machine work dynamic 1 3",
			"user do_page_fault kernel 8 8", "user main dynamic 0 7", "user wait dynamic 4 4", "user wait calls S25 1 0", "user work dynamic 3 3", "user work calls S25 1 0",
		},
	},
	{
		"first-calls",
		func(e *gprofngtest.Experiment) {
			mapProgram(e)
			mapFiles(e)
			e.Declare(schema.Clock, `ptimer="1000" numstates="10"`)
			const resolve, fixup = linkerBase + libraryText + 4, linkerBase + libraryText + 20
			const lazy, sec, noPLT = importingBase + elftest.Lazy, importingBase + elftest.Sec, importingBase + elftest.NoPLT
			put(e, schema.Clock, 0, 1*ms, e.Frame(fixup, resolve, lazy, pcMain), 0, 1)
			put(e, schema.Clock, 0, 2*ms, e.Frame(resolve, sec, pcMain), 0, 2)
			put(e, schema.Clock, 0, 3*ms, e.Frame(pcWork, resolve, lazy, pcMain), 0, 4) // an auditing library is running
			put(e, schema.Clock, 0, 4*ms, e.Frame(fixup, resolve, noPLT, pcMain), 0, 8) // no table, no first call
			put(e, schema.Clock, 0, 5*ms, e.Frame(importingBase+elftest.PLTLazy, lazy, pcMain), 0, 16)
			put(e, schema.Clock, 0, 6*ms, e.Frame(pcWork, importingBase+elftest.PLTLazy, lazy, pcMain), 0, 32)
		},
		`SELECT function, relation, other, attributed // 1000000 FROM callers_callees WHERE metric = 'totalcpu' AND mode = 'user' AND relation <> 'callee'
		 UNION ALL SELECT load_object, kind, function, exclusive // 1000000 FROM function_metrics WHERE metric = 'totalcpu' AND mode = 'user' AND kind = 'plt' ORDER BY ALL`,
		[]string{
			"<Total> self <Total> 63", "@plt caller lazy 37", "@plt caller sec 2", "@plt self @plt 3", "_dl_fixup caller _dl_runtime_resolve_xsavec 8", "_dl_fixup self _dl_fixup 8",
			"_dl_runtime_resolve_xsavec caller noplt 8",
			"lazy caller main 53", "lazy self lazy 16", "libimporting.so plt @plt 3", "main caller <Total> 63",
			"noplt caller main 8", "sec caller main 2", "work caller @plt 36", "work self work 36",
		},
	},
}

// The answers do not depend on the collector's form.
func TestSynthetic(t *testing.T) {
	for _, form := range gprofngtest.Forms {
		t.Run(form.String(), func(t *testing.T) { testSynthetic(t, form) })
	}
}

func testSynthetic(t *testing.T, form gprofngtest.Form) {
	dir := t.TempDir()
	for _, c := range synthetic {
		e := gprofngtest.NewIn(form, filepath.Join(dir, c.name+".er"))
		if c.name == "big-endian-32-bit" {
			e.Arch, e.WordBits, e.OS = "sparc", 32, "SunOS 5.11"
		}
		c.build(e)
		if err := e.Close(); err != nil {
			t.Fatal(c.name, err)
		}
	}
	for _, c := range synthetic {
		t.Run(c.name, func(t *testing.T) {
			db := store(t, filepath.Join(dir, c.name+".er"))
			if diff := cmp.Diff(c.answer, lines(t, db, c.question)); diff != "" {
				t.Errorf("%s\nproblems: %v", diff, lines(t, db, `SELECT file, reason, message FROM problems`))
			}
		})
	}
}

// store returns a store with one experiment, whose sums are right.
func store(t *testing.T, experiment string) *queries.DB {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	results, err := pipeline.Ingest(t.Context(), pipeline.Options{Store: dir, Jobs: 1, DebugDirs: []string{}}, experiment)
	if err != nil || len(results) != 1 {
		t.Fatal(err, results)
	}
	db, err := queries.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if broken := lines(t, db, `SELECT * FROM conservation`); len(broken) != 0 {
		t.Errorf("broken sums: %v", broken)
	}
	return db
}

// lines returns the rows of a query, values separated by blanks, NULL as `-`.
func lines(t *testing.T, db *queries.DB, text string) []string {
	t.Helper()
	rows, err := db.Query(text)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		var words []string
		for _, v := range values {
			if v = *v.(*any); v == nil {
				v = "-"
			}
			words = append(words, fmt.Sprint(v))
		}
		out = append(out, strings.Join(words, " "))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
