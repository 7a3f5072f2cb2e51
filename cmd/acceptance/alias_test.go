package acceptance

import (
	"context"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"stackmill/cmd/acceptance/golden"
	"stackmill/queries"
	"stackmill/schema"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

// libraries have many functions with several names: aliases in C, constructors in C++.
var libraries = []string{"/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"}

// TestAliasesOfLibraries composes an experiment with a sample in every function
// of the system's libraries that has several names, and compares gprofng's
// choice with the store's `gprofng_name`.
func TestAliasesOfLibraries(t *testing.T) {
	gprofng := peer(t)
	for _, path := range libraries {
		t.Run(filepath.Base(path), func(t *testing.T) {
			dir := t.TempDir()
			experiment := filepath.Join(dir, "aliases.er")
			if sampled := sampleAliases(t, experiment, path); sampled < 100 {
				t.Fatalf("only %d functions have several names", sampled)
			}
			summary := filepath.Join(dir, "fsummary")
			text, err := exec.Command(gprofng, "display", "text", "-limit", "0", "-fsummary", experiment).Output()
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(summary, text, 0o644); err != nil {
				t.Fatal(err)
			}
			functions, err := golden.ReadFunctions(summary)
			if err != nil {
				t.Fatal(err)
			}
			theirs := map[int64]string{}
			for _, f := range functions {
				theirs[f.Offset] = f.Name
			}
			store := filepath.Join(dir, "store")
			if _, err := ingest(store, t.TempDir(), experiment); err != nil {
				t.Fatal(err)
			}
			db, err := queries.Open(context.Background(), store)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			compared, differ := 0, 0
			for _, f := range load(t, db.DB, "aliases.er").functions {
				want, ok := theirs[f.offset]
				if f.kind != "normal" || !ok {
					continue
				}
				if compared++; f.gprofng != want {
					t.Errorf("at %#x: %q, gprofng says %q (%s)", f.offset, f.gprofng, want, f.aliases)
				}
				if f.gprofng != f.name {
					differ++
				}
			}
			t.Logf("%d functions compared, gprofng's choice is not the manual's for %d", compared, differ)
			if compared < 100 {
				t.Errorf("only %d functions are in both lists", compared)
			}
		})
	}
}

// sampleAliases makes an experiment that maps a library and has a sample in
// each of its functions with several names.
func sampleAliases(t *testing.T, experiment, path string) (sampled int) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	names := map[uint64]int{}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF {
			names[s.Value]++
		}
	}
	const base = 0x7f0000000000
	e := gprofngtest.New(experiment)
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			start := p.Off &^ 0xfff
			e.Segment(0, base+start, (p.Off+p.Filesz-start+0xfff)&^0xfff, start, 5, path)
			e.Declare(schema.Clock, `ptimer="1000" numstates="10"`)
			for value, n := range names {
				if n > 1 && p.Vaddr <= value && value < p.Vaddr+p.Filesz {
					pc := base + p.Off + (value - p.Vaddr)
					e.Events(schema.Clock).Put(0, &gprofngtest.Layouts[schema.Clock][0],
						gprofngtest.Packet{Thread: 7, CPU: 1, Time: int64(sampled), Stack: e.Frame(pc), Values: []int64{0, 1}})
					sampled++
				}
			}
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return sampled
}
