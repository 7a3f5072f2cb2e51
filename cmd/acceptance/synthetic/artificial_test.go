package synthetic

import (
	"debug/elf"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/schema"
	"stackmill/stages/decode/gprofng/gprofngtest"
	"stackmill/stages/loadobject/elf/elftest"
)

// The load objects of the synthetic programs that are files.
const (
	importingBase = 0x7f0000100000
	linkerBase    = 0x7f0000200000
	collectorBase = 0x7f0000300000
	libraryText   = 0x400 // start of the functions that library makes, 16 bytes each

	truncated    = ^uint64(0) - 1
	failedUnwind = ^uint64(0) - 2
)

// library is a shared object with functions one after the other.
func library(functions ...string) []byte {
	var f elftest.File
	var list []elftest.Symbol
	for i, name := range functions {
		list = append(list, elftest.Symbol{Name: name, Type: elf.STT_FUNC, Section: 1, Value: libraryText + 16*uint64(i), Size: 16})
	}
	f.Sections = append([]elftest.Section{elftest.Text(".text", libraryText, libraryText, 0xc00)},
		f.Symtab(".dynsym", ".dynstr", elf.SHT_DYNSYM, list)...)
	f.Loads = []elftest.Load{{Flags: elf.PF_R | elf.PF_X, FileSize: 0x1000, MemSize: 0x1000}}
	return f.Bytes()
}

// mapFiles maps an object that calls functions of others, the dynamic linker, and the collector's
// library with the named functions.
func mapFiles(e *gprofngtest.Experiment, collector ...string) {
	for _, f := range []struct {
		path    string
		address uint64
		size    uint64
		content []byte
	}{
		{"/lib/libimporting.so", importingBase, 0x4000, elftest.Importing(elf.EM_X86_64, true)},
		{"/lib64/ld-linux-x86-64.so.2", linkerBase, 0x1000, library("_dl_runtime_resolve_xsavec", "_dl_fixup")},
		{"/usr/lib/gprofng/libgp-collector.so", collectorBase, 0x1000, library(collector...)},
	} {
		e.Segment(0, f.address, f.size, 0, 5, f.path)
		e.Archive(f.path, f.content)
	}
}

// Queries return every artificial function of the manual, and gprofng's further ones: name, kind,
// load object, inclusive ms in user mode.
func TestArtificialFunctions(t *testing.T) {
	counters := []string{"collector_not_program_related", "collector_hwcs_out_of_range", "collector_hwcs_frozen", "collector_hwc_ABORT",
		"collector_record_counter", "__collector_hwc_samples_lost", "__collector_lost_profile_context"}
	states := map[int32]string{1: "<OMP-overhead>", 3: "<OMP-implicit_barrier>", 4: "<OMP-explicit_barrier>", 5: "<OMP-idle>", 7: "<OMP-reduction>",
		8: "<OMP-lock_wait>", 9: "<OMP-critical_section_wait>", 10: "<OMP-ordered_section_wait>", 11: "<OMP-atomic_wait>"}
	var want []string
	total := int64(0)
	e := gprofngtest.New(filepath.Join(t.TempDir(), "artificial.er"))
	mapProgram(e)
	mapFiles(e, counters...)
	e.Declare(schema.Clock, `ptimer="1000" numstates="10"`)
	ticks := int64(0)
	add := func(e *gprofngtest.Experiment, stack uint64, row string) {
		ticks++
		total += ticks
		put(e, schema.Clock, 0, ticks*ms, stack, 0, ticks)
		if row != "" {
			want = append(want, fmt.Sprint(row, " ", ticks))
		}
	}
	add(e, e.Frame(nowhere, pcMain), "<Unknown> unknown <Unknown>")
	add(e, e.Frame(pcWork, truncated), "<Truncated-stack> artificial <Artificial>")
	add(e, e.Frame(pcWork, failedUnwind), "<Stack-unwind-failed> artificial <Artificial>")
	add(e, e.Frame(linkerBase+libraryText+20, linkerBase+libraryText+4, importingBase+elftest.Lazy, pcMain), "@plt plt libimporting.so")
	for i, name := range counters {
		add(e, e.Frame(collectorBase+libraryText+16*uint64(i)), strings.TrimLeft(name, "_")+" artificial libgp-collector.so")
	}
	for state := range int32(12) {
		row := ""
		if states[state] != "" {
			row = states[state] + " artificial <Artificial>"
		}
		add(e, e.FrameWith(uint64(1000+state), gprofngtest.Native(pcWait, pcMain), gprofngtest.OpenMP(state, pcWork, pcMain)), row)
	}
	java := e.Descendant("_f1", 5) // every stack of this process is a Java program's
	mapProgram(java)
	java.Declare(schema.Clock, `ptimer="1000" numstates="10"`)
	java.JavaThread(7, "main", "main", 0, 0)
	add(java, java.Frame(pcWork, pcMain), "<no Java callstack recorded> artificial <Artificial>")
	ticks++
	total += ticks
	java.Events(schema.Clock).Put(0, &gprofngtest.Layouts[schema.Clock][0],
		gprofngtest.Packet{Thread: 8, Time: ticks * ms, Stack: java.Frame(pcWait, pcMain), Values: []int64{0, ticks}})
	want = append(want, fmt.Sprint("<JVM-System> artificial <Artificial> ", ticks), fmt.Sprint("<Total> artificial <Total> ", total))
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	db := store(t, e.Dir)
	got := lines(t, db, `SELECT function, kind, load_object, inclusive // 1000000 FROM function_metrics
		WHERE mode = 'user' AND metric = 'totalcpu' AND kind IN ('artificial', 'unknown', 'plt')`)
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
