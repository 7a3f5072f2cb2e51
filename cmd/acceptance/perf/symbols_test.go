package perf

import (
	"context"
	"database/sql"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/pipeline"
	"stackmill/queries"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/elf/elftest"
	"stackmill/stages/loadobject/symtab"
)

// generated sums the samples in generated functions, by name.
func generated(t *testing.T, db *queries.DB, experiment string) map[string]float64 {
	t.Helper()
	sums := map[string]float64{}
	rows, err := db.Query(`WITH leaves AS MATERIALIZED (
			SELECT e.experiment_id, p.value, f.location_id FROM perf_samples p
			JOIN samples_wide s USING (experiment_id, sample)
			JOIN raw_frames f ON f.experiment_id = s.experiment_id AND f.raw_stack_id = s.raw_stack_id AND f.position = 0
			JOIN experiments e ON e.experiment_id = p.experiment_id WHERE e.experiment = ?
		)
		SELECT f.name, sum(value)::DOUBLE FROM leaves
		JOIN locations_wide l USING (experiment_id, location_id) JOIN functions f USING (experiment_id, function_id)
		WHERE f.name LIKE 'jit%' OR f.kind = 'unknown' GROUP BY ALL`, experiment)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var sum float64
		if err := rows.Scan(&name, &sum); err != nil {
			t.Fatal(err)
		}
		sums[name] = sum
	}
	return sums
}

// Generated code has its names and shares (S13). A second function at an address is distinguished
// if the recording or its dump has times, even if the recording has another clock.
func TestGeneratedCode(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	results, err := pipeline.Ingest(context.Background(), pipeline.Options{
		Store: store, Jobs: 2, Memory: 512 << 20, DebugDirs: []string{filepath.Join(folder, "none")},
		SymFS: filepath.Join(folder, "symfs"), PerfMaps: filepath.Join(folder, "jitdump"),
	}, filepath.Join(folder, "jitdump"))
	if err != nil {
		t.Fatal(err)
	}
	dumps, err := queries.Open(context.Background(), store)
	if err != nil {
		t.Fatal(err)
	}
	defer dumps.Close()
	three := map[string]float64{"jit_loop_one": 600, "jit_loop_two": 300, "jit_loop_three": 450}
	for _, c := range []struct {
		db   *queries.DB
		name string
		want map[string]float64
	}{
		{dumps, "p_jitdump", three},
		{dumps, "p_jitdump_clock", three},
		{shared, "p_jit_dump", three},
		{shared, "p_jit_map", map[string]float64{"jit_loop_one": 1050, "jit loop two, with blanks": 300}}, // no times
		{shared, "p_jit_dump0", map[string]float64{"<Unknown>": 1350}},
		{shared, "p_jit_none", map[string]float64{"<Unknown>": 1350}},
	} {
		got := generated(t, c.db, c.name+".data")
		total := 0.0
		for _, v := range got {
			total += v
		}
		for name, want := range c.want {
			if share := got[name] / total * 1350; share < 0.9*want || share > 1.1*want {
				t.Errorf("%s: %s has %.0f of 1350, want %.0f", c.name, name, share, want)
			}
			delete(got, name)
		}
		if len(got) > 0 {
			t.Errorf("%s: further functions %v", c.name, got)
		}
	}
	said := map[string]bool{}
	for _, r := range results {
		for _, p := range r.Problems {
			said[fmt.Sprintf("%s %s", filepath.Base(r.Path), p.Reason)] = true
		}
	}
	if !said["p_jitdump_clock.data jitdump-clock"] || said["p_jitdump.data jitdump-clock"] || said["p_jitdump.data generated-code"] {
		t.Error(said)
	}
}

// A program that was rebuilt since gets no wrong names, and the right ones from a copy in perf's
// build-id cache.
func TestRebuilt(t *testing.T) {
	const program = "tmp/corpus/bin/recur_fp"
	root := t.TempDir()
	link := func(from, to string) {
		t.Helper()
		to = filepath.Join(root, to)
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.Link(filepath.Join(folder, "symfs", from), to)); err != nil {
			t.Fatal(err)
		}
	}
	var id string
	query(t, func(r *sql.Rows) error { return r.Scan(&id) },
		`SELECT DISTINCT build_id FROM load_objects JOIN experiments USING (experiment_id) WHERE load_objects.path = ? AND experiment = 'p_recur_fp.data'`, "/"+program)
	if len(id) != 40 {
		t.Fatalf("build-id %q", id)
	}
	link("tmp/corpus/bin/deep_fp", "symfs/"+program)
	link("usr/lib/x86_64-linux-gnu/libc.so.6", "symfs/usr/lib/x86_64-linux-gnu/libc.so.6")
	link(program, "cache/.build-id/"+id[:2]+"/"+id[2:]+"/elf")
	for _, c := range []struct {
		debug, symbols string
		named          bool
	}{{"none", "none", false}, {"cache", "cache", true}} {
		store := filepath.Join(t.TempDir(), "store")
		results, err := pipeline.Ingest(context.Background(), pipeline.Options{
			Store: store, Jobs: 1, SymFS: filepath.Join(root, "symfs"), DebugDirs: []string{filepath.Join(root, c.debug)},
		}, filepath.Join(folder, "perf", "p_recur_fp.data"))
		if err != nil {
			t.Fatal(err)
		}
		said := false
		for _, p := range results[0].Problems {
			said = said || p.File == "/"+program && p.Reason == "wrong-build-id"
		}
		db, err := queries.Open(context.Background(), store)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var named int64
		var symbols string
		row := db.QueryRow(`SELECT (SELECT count(*) FROM functions f WHERE f.load_object_id = o.load_object_id AND f.kind <> 'static'), o.symbols
			FROM load_objects o WHERE o.path = ?`, "/"+program)
		if err := row.Scan(&named, &symbols); err != nil {
			t.Fatal(err)
		}
		if !said || symbols != c.symbols || (named > 0) != c.named {
			t.Errorf("%s: %d named functions from %s, problem: %t", c.debug, named, symbols, said)
		}
	}
}

// An installed image of the recorded kernel, linked for other addresses than those after boot,
// gives the same functions as the kernel's symbol list.
func TestKernelImage(t *testing.T) {
	const booted, linked = 0xffffffff81000000, 0xffffffff80200000
	var release, id string
	query(t, func(r *sql.Rows) error { return r.Scan(&release, &id) }, `SELECT regexp_replace(os, '^Linux ', ''), build_id
		FROM experiments JOIN load_objects USING (experiment_id) WHERE experiment = 'p_traps_kernel.data' AND load_objects.path = ?`, decode.KernelPath)
	list, err := os.ReadFile(filepath.Join(folder, "kallsyms"))
	if err != nil {
		t.Fatal(err)
	}
	const head, size = 0x200000, 0x1400000
	var symbols []elftest.Symbol
	for f := range symtab.ReadKernel(list).Finish().Functions.All() {
		if f.Module == 0 && f.Address >= booted && f.Address+f.Size <= booted+size {
			symbols = append(symbols, elftest.Symbol{Name: f.Linkage, Type: elf.STT_FUNC, Section: 1, Value: f.Address - booted + linked, Size: f.Size})
		}
	}
	raw, err := hex.DecodeString(id)
	if err != nil || len(raw) != 20 || len(symbols) < 10000 {
		t.Fatalf("%q, %d symbols: %v", id, len(symbols), err)
	}
	image := elftest.File{Type: elf.ET_EXEC, Loads: []elftest.Load{{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_X, Offset: head, Address: linked, FileSize: size, MemSize: size}}}
	image.Sections = append([]elftest.Section{elftest.Text(".text", linked, head, size), image.BuildID(raw)}, image.Symtab(".symtab", ".strtab", elf.SHT_SYMTAB, symbols)...)
	root := t.TempDir()
	file := filepath.Join(root, "boot", "vmlinux-"+release)
	if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o755), os.WriteFile(file, image.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(t.TempDir(), "store")
	_, err = pipeline.Ingest(context.Background(), pipeline.Options{Store: store, Jobs: 1, SymFS: root, DebugDirs: []string{}}, filepath.Join(folder, "perf", "p_traps_kernel.data"))
	if err != nil {
		t.Fatal(err)
	}
	db, err := queries.Open(context.Background(), store)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	want, got := kernelFunctions(t, shared), kernelFunctions(t, db)
	if d := cmp.Diff(want, got); d != "" || len(want) < 10 {
		t.Errorf("of %d functions: %s", len(want), d)
	}
}

// kernelFunctions returns the inclusive metrics of the kernel's functions in the
// recording of traps.
func kernelFunctions(t *testing.T, db *queries.DB) map[string]int64 {
	t.Helper()
	rows, err := db.Query(`SELECT m.function || ' ' || m.metric, m.inclusive::BIGINT FROM function_metrics m WHERE m.experiment = 'p_traps_kernel.data'
		AND m.mode = 'machine' AND m.load_object = ?`, decode.KernelPath)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	sums := map[string]int64{}
	for rows.Next() {
		var name string
		var v int64
		if err := rows.Scan(&name, &v); err != nil {
			t.Fatal(err)
		}
		sums[name] = v
	}
	return sums
}
