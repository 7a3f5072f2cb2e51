package page

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"stackmill/cmd/acceptance/suite"
	"stackmill/internal/corpus"
	"stackmill/pipeline"
	"stackmill/queries"
	"stackmill/schema"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

// memory serves a store of recordings of data objects, heap calls, I/O calls, waits, system calls and requests to
// devices until the test ends, and a composed one of shared memory, deadlocks and data races.
func memory(t *testing.T) (*queries.DB, *server) {
	t.Helper()
	root, err := corpus.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := errors.Join(corpus.Data(dir), corpus.Unpack(filepath.Join(root, "testdata", "gprofng", "experiments.tar.gz"), dir)); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, name := range []string{"heap", "heap_many", "io", "sync", "recur", "java"} {
		paths = append(paths, filepath.Join(dir, "exp", name+".er"))
	}
	for _, name := range []string{"records_gcc_O2", "records_gcc_O1", "records_clang_O2", "scalars_gcc_O2"} {
		paths = append(paths, filepath.Join(dir, "data", name+".data"))
	}
	for _, name := range []string{"maps_lock", "calls_raw", "disk_both", "convoy_both"} {
		paths = append(paths, filepath.Join(root, "testdata", "wall", name+".data"))
	}
	shared := filepath.Join(dir, "shared.er")
	writeShared(t, shared)
	db, err := suite.Open(pipeline.Options{Store: filepath.Join(t.TempDir(), "store"), SymFS: filepath.Join(dir, "symfs"), Sources: texts}, append(paths, shared)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if db.Count != len(paths)+1 {
		t.Fatalf("the store has %d of %d experiments", db.Count, len(paths)+1)
	}
	return db, served(t, db.Store, nil)
}

// writeShared writes an experiment in which threads 7 and 8 access three cache lines: of the first each writes a place
// of its own, the second both read, the third 7 writes and 8 reads at one place. Each holds a lock that the other one
// wants, and they race for an address.
func writeShared(t *testing.T, dir string) {
	t.Helper()
	const base, ms = 0x10000, 1_000_000
	e := gprofngtest.New(dir)
	for i, f := range []string{"main", "count", "lock"} {
		e.Function(0, base+uint64(i)*0x100, 0x100, f)
	}
	e.Counter(0, "dcm", 1000, `memop="3"`)
	e.Declare(schema.HWC, "")
	e.Declare(schema.Race, "")
	e.Declare(schema.Deadlock, "")
	count, lock := e.Frame(base+0x104, base+4), e.Frame(base+0x204, base+4)
	time := int64(0)
	put := func(kind schema.Kind, layout int, thread, cpu int64, stack uint64, values ...int64) {
		time += ms
		e.Events(kind).Put(int(thread), &e.Layouts(kind)[layout], gprofngtest.Packet{Thread: thread, CPU: int32(cpu), Time: time, Stack: stack, Values: values})
	}
	const read, write = 2, 4 // perf's PERF_MEM_OP_LOAD and PERF_MEM_OP_STORE
	for _, a := range []struct{ thread, address, operation int64 }{
		{7, 0x7000, write}, {7, 0x7000, write}, {8, 0x7008, read}, {8, 0x7008, write},
		{7, 0x7040, read}, {8, 0x7040, read},
		{7, 0x7080, write}, {8, 0x7080, read},
	} {
		put(schema.HWC, 1, a.thread, a.thread-6, count, 0, 1000, a.address, 0, base+0x104, base+0x104, 40, a.operation)
	}
	for _, l := range []struct{ thread, address int64 }{{7, 0xa0}, {8, 0xb0}, {7, 0xb0}, {8, 0xa0}} {
		put(schema.Deadlock, 0, l.thread, 1, lock, 1, 2, 6, l.address)
	}
	put(schema.Race, 0, 7, 1, e.Frame(base+4), 1, 5, base+0x104, 0x8000, 3)
	put(schema.Race, 0, 8, 2, e.Frame(base+4), 1, 5, base+0x104, 0x8000, 4)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// memoryPlaces are the addresses of the places about memory, files, locks and unknown values, with and without data.
var memoryPlaces = []string{
	"?view=objects", "?view=objects&experiment=records_gcc_O2.data&open=", "?view=objects&experiment=shared.er&by=line&first=shared", "?view=objects&by=line", "?view=objects&by=page", "?view=objects&by=variable", "?view=objects&experiment=recur.er",
	"?view=heap", "?view=heap&experiment=heap.er&what=allocations", "?view=heap&experiment=recur.er", "?view=files", "?view=files&kind=calls", "?view=files&kind=devices", "?view=files&experiment=recur.er",
	"?view=locks", "?view=locks&by=threads", "?view=locks&by=wakers", "?view=locks&by=conflicts", "?view=locks&experiment=recur.er", "?view=unknown&metric=page-faults:u", "?view=unknown&by=problems",
}

// Every place about memory is shown without an error and is accessible with a row unfolded, wide, dark and on a phone.
func TestMemoryPlaces(t *testing.T) {
	axe, err := os.ReadFile("testdata/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("no axe-core: run npm ci in cmd/acceptance/page/testdata")
	}
	_, s := memory(t)
	first := map[string]bool{} // the first address of each view
	views := map[string]bool{}
	for _, place := range memoryPlaces {
		view, _, _ := strings.Cut(place, "&")
		first[place] = !views[view]
		views[view] = true
	}
	for _, of := range []struct {
		name          string
		width, height int64
		dark          bool
	}{{"light", 1280, 850, false}, {"dark", 1920, 1080, true}, {"phone", 390, 800, false}} {
		t.Run(of.name, func(t *testing.T) {
			b := open(t, of.width, of.height, of.dark)
			b.site = s.address
			for _, place := range memoryPlaces {
				if of.dark && !first[place] {
					continue // it has the colors of the other addresses
				}
				b.fits(place)
				b.run(chromedp.Evaluate(`document.querySelector('main tr.folds')?.click()`, nil), settled)
				b.audit(place, string(axe))
			}
		})
	}
}

// text returns the text of the place.
func (b *browser) text() string {
	b.t.Helper()
	return eval[string](b, `document.querySelector('main').innerText.replace(/[\u202f\u00a0]/g, ' ')`)
}

// spaces replaces the narrow spaces before units.
func spaces(rows []string) []string {
	for i, r := range rows {
		rows[i] = strings.NewReplacer("\u202f", " ", "\u00a0", " ").Replace(r)
	}
	return rows
}

// Cache lines have the threads, CPUs, reads and writes of their samples. Those that threads share are marked, and so is
// what may be false sharing; where reads and writes are not recorded, the place says so and marks nothing.
func TestCacheLines(t *testing.T) {
	db, s := memory(t)
	b := open(t, 1440, 850, false)
	b.site = s.address
	b.visit("?view=objects&experiment=shared.er&by=line&first=shared")
	want := []string{
		"4,000|50.0 %|1,000|3,000|2|2|0|may be false sharing|not known|0x7000",
		"2,000|25.0 %|1,000|1,000|2|2|0|shared|not known|0x7080",
		"2,000|25.0 %|2,000|0|2|2|0||not known|0x7040",
	}
	rows := spaces(b.table("Cache lines by value"))
	if len(rows) != len(want) {
		t.Fatalf("%q", rows)
	}
	for i := range want {
		if !strings.HasPrefix(rows[i], want[i]+"|") {
			t.Errorf("%q, want %q", rows[i], want[i])
		}
	}
	b.run(chromedp.Click(`//main//tr[contains(., '0x7000')]/td[1]`, chromedp.BySearch), settled)
	accesses := spaces(b.table("Accesses to 0x7000"))
	if len(accesses) != 2 || !strings.HasPrefix(accesses[0], "0|2,000|0|2,000|7|1|") || !strings.HasPrefix(accesses[1], "8|2,000|1,000|1,000|8|2|") || !strings.Contains(accesses[0], "count") {
		t.Errorf("%q", accesses)
	}
	b.visit("?view=objects&experiment=shared.er&by=page")
	if rows := spaces(b.table("Pages by value")); len(rows) != 1 || !strings.HasPrefix(rows[0], "8,000|100.0 %|4,000|4,000|2|2|0|shared|") {
		t.Errorf("%q", rows)
	}

	b.visit("?view=objects&experiment=scalars_gcc_O2.data&by=line")
	found, err := db.Records(t.Context(), `SELECT value, threads, objects, address FROM memory_objects
		WHERE experiment = 'scalars_gcc_O2.data' AND mode = 'user' AND metric = 'page-faults:u' AND kind = 'cache line' ORDER BY value DESC, address`)
	if err != nil {
		t.Fatal(err)
	}
	rows = b.table("Cache lines by value")
	known := map[string]string{} // by address
	for _, f := range found {
		known[fmt.Sprintf("0x%x", uint64(f.Number("address")))] = fmt.Sprintf("%d|%d|%d", f.Number("value"), f.Number("threads"), f.Number("objects"))
	}
	for _, r := range rows {
		p := strings.Split(r, "|")
		if got := p[0] + "|" + p[2] + "|" + p[4]; known[p[7]] != got {
			t.Errorf("%q, want %q", r, known[p[7]])
		}
	}
	if text := b.text(); len(rows) != min(200, len(found)) || !strings.Contains(text, fmt.Sprintf("%s cache lines", countText(int64(len(found))))) || !strings.Contains(text, "do not say which accesses read and which write") {
		t.Errorf("%d rows of %d: %s", len(rows), len(found), text)
	}
}

// Leaks have the blocks, bytes, sizes and ages of SQL's heap_blocks, and gprofng's numbers but for the blocks that
// realloc replaced. It takes two clicks from the start to see the stack of one.
func TestLeaks(t *testing.T) {
	db, s := memory(t)
	b := open(t, 1280, 850, false)
	b.site = s.address
	b.visit("?experiment=heap.er")
	b.run(chromedp.Click(`//nav//a[contains(., 'Heap and leaks')]`, chromedp.BySearch), chromedp.WaitVisible(`.heap table.folding`, chromedp.ByQuery), settled)
	rows := spaces(b.table("Leaks by stack"))
	found, err := db.Records(t.Context(), `SELECT h.stack, count(*) AS blocks, sum(b.leaked)::BIGINT AS bytes, min(b.leaked) AS smallest, max(b.leaked) AS largest, min(b.ended_ns - b.allocated_ns) AS youngest, max(b.ended_ns - b.allocated_ns) AS oldest
		FROM heap_blocks b JOIN mode_stacks k ON k.experiment_id = b.experiment_id AND k.stack = b.stack AND k.mode = 'user' JOIN heap_stacks h ON h.experiment_id = k.experiment_id AND h.stack_id = k.stack_id AND h.mode = 'user'
		WHERE b.experiment = 'heap.er' AND b.fate = 'leaked' GROUP BY h.stack ORDER BY bytes DESC`)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(found) || len(rows) != 4 {
		t.Fatalf("%q, want %v", rows, found)
	}
	spread := func(from, to int64, of func(int64) string) string {
		if of(from) == of(to) {
			return of(from)
		}
		return of(from) + " – " + of(to)
	}
	ns := func(n int64) string { return strings.NewReplacer("\u202f", " ").Replace(amount(float64(n))) }
	for i, f := range found {
		p := strings.Split(rows[i], "|")
		ages := spread(f.Number("youngest"), f.Number("oldest"), ns)
		if p[0] != bytesText(f.Number("bytes")) || p[2] != fmt.Sprint(f.Number("blocks")) || p[4] != spread(f.Number("smallest"), f.Number("largest"), bytesText) || p[5] != ages {
			t.Errorf("%q, want %v, ages %s", rows[i], f, ages)
		}
	}
	golden, err := os.ReadFile("../../../testdata/gprofng/golden/heap/leaks.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`Instances = (\d+), Bytes Leaked = (\d+)\n  (\w+)`).FindAllStringSubmatch(string(golden), -1) {
		if m[3] == "realloc" { // gprofng calls the blocks leaked that realloc replaced
			continue
		}
		if !slices.ContainsFunc(found, func(f queries.Record) bool {
			return fmt.Sprint(f.Number("blocks")) == m[1] && fmt.Sprint(f.Number("bytes")) == m[2]
		}) {
			t.Errorf("gprofng has a leak of %s blocks, %s bytes: %v", m[1], m[2], found)
		}
	}
	b.run(chromedp.Click(`//main//tr[contains(., 'path_two')]/td[1]`, chromedp.BySearch), settled)
	frames := eval[[]string](b, `[...document.querySelectorAll('.stackframes li')].map((l) => l.innerText.trim())`)
	if got := strings.Join(frames, " "); !strings.HasPrefix(got, "malloc make path_two mixed main") {
		t.Error(got)
	}
	text := b.text()
	if !strings.Contains(text, "98.6 KiB leaked in 165 blocks") || !strings.Contains(text, "599 KiB allocated in 1,690 blocks") || !strings.Contains(text, "Peak of 147 KiB") {
		t.Error(text)
	}
	b.run(chromedp.Evaluate("history.back()", nil), settled)
	if n := eval[int](b, `document.querySelectorAll('.stackframes').length`); n != 0 {
		t.Error("Back does not fold the row")
	}
	b.visit("?view=heap") // of all experiments
	var leaks, leaked int64
	if err := db.QueryRow("SELECT sum(leaks)::BIGINT, sum(leaked_bytes)::BIGINT FROM heap_statistics").Scan(&leaks, &leaked); err != nil {
		t.Fatal(err)
	}
	if text := b.text(); !strings.Contains(text, fmt.Sprintf("%s leaked in %d blocks", bytesText(leaked), leaks)) {
		t.Error(text)
	}
}

// bytesText formats a number of bytes as the page does.
func bytesText(n int64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if v := float64(n) / u.size; v >= 0.9995 {
			digits := 2
			if v >= 99.95 {
				digits = 0
			} else if v >= 9.995 {
				digits = 1
			}
			return fmt.Sprintf("%.*f %s", digits, v, u.name)
		}
	}
	return countText(n) + " B"
}

// The heap over time ends at the highest peak that SQL finds, also by filtered samples.
func TestHeapOverTime(t *testing.T) {
	db, s := memory(t)
	b := open(t, 1280, 850, false)
	b.site = s.address
	b.visit("?view=heap")
	highest := eval[float64](b, `fetch('/api/v1/heap').then((r) => r.json()).then((a) => Math.max(...a.timeline.map((m) => m.highest)))`)
	last := eval[float64](b, `fetch('/api/v1/heap').then((r) => r.json()).then((a) => a.timeline.at(-1).last)`)
	var peak, leaked float64
	if err := db.QueryRow("SELECT peak_bytes, leaked_bytes FROM heap_statistics ORDER BY peak_bytes DESC LIMIT 1").Scan(&peak, &leaked); err != nil {
		t.Fatal(err)
	}
	if highest != peak || last != leaked {
		t.Errorf("the heap is at most %v and %v at the end, want %v and %v", highest, last, peak, leaked)
	}
	b.visit("?view=heap&experiment=heap.er&where=" + "NOT+stack_has('make')")
	if text := b.text(); !strings.Contains(text, "is not known") {
		t.Errorf("without some allocations: %s", text)
	}
}

// Files have SQL's and gprofng's numbers, and the stacks of their calls.
func TestFiles(t *testing.T) {
	db, s := memory(t)
	b := open(t, 1440, 850, false)
	b.site = s.address
	b.visit("?experiment=io.er")
	b.run(chromedp.Click(`//nav//a[.//span[.='Files']]`, chromedp.BySearch), chromedp.WaitVisible(`.files table.folding`, chromedp.ByQuery), settled)
	rows := spaces(b.table("Files by time"))
	found, err := db.Records(t.Context(), `SELECT *, read_ns + write_ns + other_ns + error_ns AS ns FROM io_activity WHERE experiment = 'io.er' ORDER BY ns DESC, name`)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(found) || len(rows) < 5 {
		t.Fatalf("%q, want %v", rows, found)
	}
	for i, f := range found {
		p := strings.Split(rows[i], "|")
		want := []string{amount(float64(f.Number("ns"))), countText(f.Number("opens")), countText(f.Number("reads")), countText(f.Number("writes")), countText(f.Number("errors")), f.Text("name")}
		if got := []string{p[0], p[3], p[4], p[6], p[9], strings.ReplaceAll(p[10], "/ ", "/")}; !slices.Equal(got, spaces(want)) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	golden, err := os.ReadFile("../../../testdata/gprofng/golden/io/ioactivity.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if name := f.Text("name"); name != "<no open file>" && !strings.Contains(string(golden), " "+name+"\n") { // gprofng leaves these calls out
			t.Errorf("gprofng has no %s", name)
		}
	}
	b.run(chromedp.Click(`//main//tr[contains(., 'tmp_io.dat')]/td[1]`, chromedp.BySearch), chromedp.WaitVisible(`.unfolded table`, chromedp.ByQuery), settled)
	stacks := spaces(b.table("Stacks of /tmp/corpus/tmp_io.dat"))
	if len(stacks) < 5 || !slices.ContainsFunc(stacks, func(r string) bool { return strings.Contains(r, "|100|100 KiB|0|write_file in main") }) {
		t.Errorf("%q", stacks)
	}

	b.visit("?view=files&experiment=calls_raw.data") // the kind that was recorded
	calls, err := db.Records(t.Context(), `SELECT name, count(*) AS calls, sum(duration_ns)::BIGINT AS ns, count(error) AS errors FROM syscalls WHERE experiment = 'calls_raw.data' GROUP BY name ORDER BY ns DESC NULLS LAST, calls DESC, name`)
	if err != nil {
		t.Fatal(err)
	}
	rows = spaces(b.table("System calls by time"))
	if len(rows) != len(calls) || len(rows) < 5 {
		t.Fatalf("%q, want %v", rows, calls)
	}
	for i, f := range calls {
		p := strings.Split(rows[i], "|")
		if p[8] != f.Text("name") || p[3] != countText(f.Number("calls")) || p[6] != countText(f.Number("errors")) {
			t.Errorf("%q, want %v", rows[i], f)
		}
	}
	b.visit("?view=files&experiment=disk_both.data&kind=devices")
	var requests, bytes int64
	if err := db.QueryRow("SELECT count(*), sum(bytes)::BIGINT FROM block_requests WHERE experiment = 'disk_both.data' AND operation = 'read'").Scan(&requests, &bytes); err != nil {
		t.Fatal(err)
	}
	rows = spaces(b.table("Devices by time"))
	if !slices.ContainsFunc(rows, func(r string) bool {
		return strings.Contains(r, fmt.Sprintf("|%d|%s|0|read|", requests, bytesText(bytes)))
	}) {
		t.Errorf("%q, want %d requests of %d bytes", rows, requests, bytes)
	}
}

// Locks have SQL's waits, threads and stacks. Who waits for what is two clicks from the start.
func TestLocks(t *testing.T) {
	db, s := memory(t)
	b := open(t, 1440, 850, false)
	b.site = s.address
	b.visit("?experiment=sync.er")
	b.run(chromedp.Click(`//nav//a[.//span[.='Locks']]`, chromedp.BySearch), chromedp.WaitVisible(`.locks table.folding`, chromedp.ByQuery), settled)
	objects, err := db.Records(t.Context(), "SELECT * FROM sync_objects WHERE experiment = 'sync.er' ORDER BY wait_ns DESC")
	if err != nil {
		t.Fatal(err)
	}
	rows := spaces(b.table("Locks by waits"))
	if len(rows) != len(objects) || len(rows) != 2 {
		t.Fatalf("%q, want %v", rows, objects)
	}
	for i, f := range objects {
		p := strings.Split(rows[i], "|")
		want := spaces([]string{amount(float64(f.Number("wait_ns"))), countText(f.Number("waits")), amount(float64(f.Number("longest_ns"))), fmt.Sprint(f.Number("threads")), f.Text("variable") + " sync"})
		if got := []string{p[0], p[2], p[3], p[4], p[6]}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	b.run(chromedp.Click(`//main//button[.='Who waits for what']`, chromedp.BySearch), chromedp.WaitVisible(`main [aria-label="Who waits for what"] table`, chromedp.ByQuery), settled)
	waiters, err := db.Records(t.Context(), `SELECT v.variable, s.thread_id, count(*) AS waits, sum(y.metric_ns)::BIGINT AS ns FROM sync_samples y JOIN samples s USING (experiment_id, sample) JOIN experiment_names USING (experiment_id)
		JOIN sync_variables v ON v.experiment_id = y.experiment_id AND v.object = y.object WHERE experiment = 'sync.er' GROUP BY ALL ORDER BY ns DESC`)
	if err != nil {
		t.Fatal(err)
	}
	rows = spaces(b.table("Who waits for what"))
	if len(rows) != len(waiters) || len(rows) != 4 {
		t.Fatalf("%q, want %v", rows, waiters)
	}
	for i, f := range waiters {
		p := strings.Split(rows[i], "|")
		want := spaces([]string{amount(float64(f.Number("ns"))), countText(f.Number("waits")), fmt.Sprint(f.Number("thread_id")), f.Text("variable") + " sync"})
		if got := []string{p[0], p[2], p[4], p[5]}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	b.visit("?view=locks&experiment=maps_lock.data")
	var locks int
	if err := db.QueryRow("SELECT count(*) FROM locks WHERE experiment = 'maps_lock.data'").Scan(&locks); err != nil {
		t.Fatal(err)
	}
	if rows := b.table("Locks by waits"); len(rows) != locks || locks != 2 || !strings.Contains(rows[0], "rwsem:W, kernel") {
		t.Errorf("%q, want %d locks", rows, locks)
	}
	b.visit("?view=locks&experiment=convoy_both.data&by=wakers")
	wakers, err := db.Records(t.Context(), "SELECT * FROM wakers WHERE experiment = 'convoy_both.data' ORDER BY wait_ns DESC")
	if err != nil {
		t.Fatal(err)
	}
	rows = spaces(b.table("Who woke whom"))
	if len(rows) != len(wakers) || len(rows) < 4 {
		t.Fatalf("%q, want %v", rows, wakers)
	}
	first := spaces([]string{fmt.Sprintf("%s|", amount(float64(wakers[0].Number("wait_ns"))))})[0]
	if !strings.HasPrefix(rows[0], first) || !strings.HasSuffix(rows[0], strings.Join([]string{wakers[0].Text("thread_name"), wakers[0].Text("function"), wakers[0].Text("waker_thread_name"), wakers[0].Text("waker_function")}, "|")) {
		t.Errorf("%q, want %v", rows[0], wakers[0])
	}
}

// Deadlocks are drawn as cycles; data races have their threads.
func TestDeadlocks(t *testing.T) {
	_, s := memory(t)
	b := open(t, 1280, 850, false)
	b.site = s.address
	b.visit("?view=locks&experiment=shared.er&by=conflicts")
	cycle := eval[string](b, `document.querySelector('svg.cycle').getAttribute('aria-label')`)
	if cycle != "7 holds 0xa0 and wants 0xb0; 8 holds 0xb0 and wants 0xa0" {
		t.Error(cycle)
	}
	if rows := b.table("Data races"); len(rows) != 2 || !strings.HasPrefix(rows[0], "5|4|0x8000|8|") || !strings.HasPrefix(rows[1], "5|3|0x8000|7|") {
		t.Errorf("%q", rows)
	}
}

// What is unknown is one click from the start: by value, with what helps and a command, once for all experiments.
func TestUnknown(t *testing.T) {
	db, s := memory(t)
	b := open(t, 1280, 850, false)
	b.site = s.address
	b.visit("?experiment=java.er&metric=totalcpu")
	b.run(chromedp.Click(`//nav//a[contains(., 'Unknown')]`, chromedp.BySearch), chromedp.WaitVisible(`.unknown table`, chromedp.ByQuery), settled)
	rows := spaces(b.table("Unknown by reason"))
	var value, total int64
	if err := db.QueryRow(`SELECT sum(value)::BIGINT, (SELECT value FROM metric_totals WHERE experiment = 'java.er' AND mode = 'user' AND metric = 'totalcpu') FROM unattributed
		WHERE experiment = 'java.er' AND mode = 'user' AND metric = 'totalcpu' AND subject = 'function'`).Scan(&value, &total); err != nil {
		t.Fatal(err)
	}
	if len(rows) == 0 || !strings.HasPrefix(rows[0], fmt.Sprintf("%s|%.1f %%|function|PC in no load object", spaces([]string{amount(float64(value))})[0], 100*float64(value)/float64(total))) {
		t.Fatalf("%q, want %d of %d", rows, value, total)
	}
	share := eval[float64](b, `fetch('/api/v1/unknown?experiment=java.er&metric=totalcpu&only=share').then((r) => r.json()).then((a) => a.share)`)
	filtered := eval[float64](b, `fetch('/api/v1/unknown?experiment=java.er&metric=totalcpu&only=share&where=cpu+%3E%3D+0').then((r) => r.json()).then((a) => a.share)`)
	if want := float64(value) / float64(total); share != want || filtered != want {
		t.Errorf("the share is %v, filtered %v, want %v", share, filtered, want)
	}
	b.run(chromedp.Click(`//main//tr[contains(., 'PC in no load object')]/td[1]`, chromedp.BySearch), settled)
	if text := b.text(); !strings.Contains(text, "stackmill resymbolize --store STORE --perf-map-dir DIRECTORY") {
		t.Error(text)
	}

	b.visit("?view=unknown&metric=page-faults:u")
	found, err := db.Records(t.Context(), `SELECT subject, reason, load_object, sum(value)::BIGINT AS value, count(DISTINCT experiment_id) AS runs FROM unattributed
		WHERE mode = 'user' AND metric = 'page-faults:u' GROUP BY ALL ORDER BY value DESC, subject, reason, load_object`)
	if err != nil {
		t.Fatal(err)
	}
	rows = spaces(b.table("Unknown by reason"))
	if len(rows) != len(found) || len(rows) < 5 {
		t.Fatalf("%d rows, want %d: %q", len(rows), len(found), rows)
	}
	for i, f := range found {
		p := strings.Split(rows[i], "|")
		runs := fmt.Sprintf("%d run", f.Number("runs"))
		if p[0] != countText(f.Number("value")) || p[2] != f.Text("subject") || !strings.HasPrefix(p[3], f.Text("reason")) || p[4] != f.Text("load_object") || !strings.Contains(p[5], runs) {
			t.Errorf("%q, want %v", rows[i], f)
		}
		if len(p[3]) < len(f.Text("reason"))+20 {
			t.Errorf("nothing helps against %s", f.Text("reason"))
		}
	}
	b.visit("?view=unknown&by=problems")
	var problems int
	if err := db.QueryRow("SELECT count(DISTINCT (severity, reason)) FROM problems").Scan(&problems); err != nil {
		t.Fatal(err)
	}
	if rows := b.table("Problems"); len(rows) != problems || problems < 2 {
		t.Errorf("%d rows of %d reasons: %q", len(rows), problems, rows)
	}
}

// Places without data name the option of a recorder that gives them, as a command to copy.
func TestNotRecorded(t *testing.T) {
	_, s := memory(t)
	b := open(t, 1280, 850, false)
	b.site = s.address
	for place, command := range map[string]string{
		"?view=heap&experiment=recur.er":                "gprofng collect app -p off -H on ",
		"?view=files&experiment=recur.er":               "gprofng collect app -p off -i on ",
		"?view=files&experiment=recur.er&kind=calls":    "perf record -e raw_syscalls:sys_enter ",
		"?view=files&experiment=recur.er&kind=devices":  "perf record -a -e block:block_rq_issue ",
		"?view=locks&experiment=recur.er":               "gprofng collect app -p off -s on,n ",
		"?view=locks&experiment=recur.er&by=threads":    "perf record -e lock:contention_begin ",
		"?view=locks&experiment=recur.er&by=wakers":     "perf record -k CLOCK_MONOTONIC ",
		"?view=locks&experiment=recur.er&by=conflicts":  "collect -r on ",
		"?view=objects&experiment=recur.er&by=variable": "perf record -e page-faults -c 1 -d ",
	} {
		b.visit(place)
		commands := eval[[]string](b, `[...document.querySelectorAll('main .copycommand')].filter((c) => c.querySelector('button').innerText === 'Copy').map((c) => c.querySelector('pre').innerText)`)
		if !slices.ContainsFunc(commands, func(c string) bool { return strings.HasPrefix(c, command) }) {
			t.Errorf("%s: %q, want %s", place, commands, command)
		}
	}
}

// A table is one stop of the Tab key: arrows move between its rows, and Enter unfolds one.
func TestFoldingKeys(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=heap&experiment=heap.er")
	stops := eval[int](b, `document.querySelectorAll('main table.folding tbody tr[tabindex="0"]').length`)
	if stops != 1 {
		t.Fatalf("%d rows are stops", stops)
	}
	b.run(chromedp.Focus(`main table.folding tbody tr`, chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Enter), settled)
	opened := func() string {
		return eval[string](b, `document.querySelector('main tr[aria-expanded=true]')?.rowIndex + ' ' + document.activeElement.dataset.row`)
	}
	if got := opened(); got != "2 1" {
		t.Error(got)
	}
	b.run(chromedp.KeyEvent(kb.ArrowLeft), settled)
	if got := opened(); got != "undefined 1" {
		t.Error(got)
	}
	b.run(chromedp.KeyEvent(kb.End), chromedp.KeyEvent(kb.ArrowRight), settled)
	if got := opened(); got != "4 3" {
		t.Error(got)
	}
	b.run(chromedp.Reload(), settled)
	if n := eval[int](b, `document.querySelectorAll('.stackframes').length`); n != 1 {
		t.Error("a reload folds the row")
	}
}

// The types of the page for the answers about memory are those that the server writes.
func TestMemoryTypes(t *testing.T) {
	source, err := os.ReadFile("../../../queries/serve/web/src/lib/memory.ts")
	if err != nil {
		t.Fatal(err)
	}
	types := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?s)export interface (\w+) \{\n(.*?)\n\}`).FindAllStringSubmatch(string(source), -1) {
		for _, f := range regexp.MustCompile(`(?m)^  (\w+):`).FindAllStringSubmatch(m[2], -1) {
			types[m[1]] = append(types[m[1]], f[1])
		}
	}
	_, s := memory(t)
	b := open(t, 1280, 850, false)
	b.site = s.address
	b.visit("?view=sql")
	for request, name := range map[string]string{
		"data-objects": "DataObjects", "data-objects?part=types": "DataType", "data-objects?part=variables": "DataVariable", "data-objects?part=unknown": "UnknownObject",
		"data-objects/layout?type=%7Bstructure:shape%7D": "LayoutAnswer", "data-objects/layout?type=%7Bstructure:shape%7D&part=layouts": "DataLayout",
		"data-objects/layout?type=%7Bstructure:shape%7D&part=layouts.members": "LayoutMember", "data-objects/layout?type=%7Bstructure:shape%7D&part=layouts.code": "MemberCode",
		"memory": "MemoryAnswer", "memory?part=rows": "MemoryPiece", "memory/accesses?experiment=shared.er&process=1&address=0x7000&part=": "AccessRow",
		"heap": "HeapAnswer", "heap?part=peaks": "HeapPeak", "heap?part=timeline": "HeapMoment", "heap?part=sizes": "HeapSizes", "heap?part=stacks": "HeapOfStack",
		"files": "FilesAnswer", "files?part=files": "FileActivity", "files?part=kinds": "IoKind", "files?part=sizes": "IoSizes", "files?part=calls": "SystemCall", "files?part=devices": "DeviceUse",
		"stacks?kind=file&item=/tmp/corpus/tmp_io.dat&part=": "StackUse",
		"locks": "LocksAnswer", "locks?part=locks": "LockUse", "locks?part=waiters": "LockWaiter", "locks?part=wakers": "Waker", "locks?part=deadlocks": "LockEvent", "locks?part=races": "RaceAccess",
		"unknown": "UnknownAnswer", "unknown?metric=page-faults:u&part=reasons": "UnknownReason",
	} {
		path, part, list := strings.Cut(request, "part=")
		fields := eval[[]string](b, fmt.Sprintf(`fetch('/api/v1/%s').then((r) => r.json()).then((a) => %q.split('.').filter((p) => p).reduce((v, p) => (Array.isArray(v) ? v[0] : v)[p], a)).then((v) => Object.keys(%v ? v[0] : v))`,
			strings.TrimRight(path, "?&"), part, list))
		if !reflect.DeepEqual(fields, types[name]) {
			t.Errorf("%s of %s: the page has %q, the server %q", name, request, types[name], fields)
		}
		delete(types, name)
	}
	if len(types) > 0 {
		t.Errorf("no request has the types %v", types)
	}
}
