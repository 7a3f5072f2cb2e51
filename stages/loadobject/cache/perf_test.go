package cache

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ianlancetaylor/demangle"

	"stackmill/stages/loadobject/symtab"
)

// TestPerfAliases compares perf's and our names of the system libraries' functions that have
// several symbols.
func TestPerfAliases(t *testing.T) {
	perf, err := exec.LookPath("perf")
	if err != nil {
		t.Skip(err)
	}
	for _, path := range systemObjects(t) {
		if base := filepath.Base(path); !strings.HasPrefix(base, "lib") {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			table := load(t, New(Options{}), path)
			functions := slices.DeleteFunc(slices.Collect(table.Functions.All()), func(f symtab.Function) bool { return len(symtab.Split(f.Aliases)) < 2 })
			names := perfNames(t, perf, path, table, functions)
			other := 0
			for i, f := range functions {
				if f.PerfName != "" {
					other++
				}
				if !slices.Contains(perfForms(f), names[i]) {
					t.Errorf("at %#x perf shows %s, not %q (%s)", f.Offset, names[i], perfForms(f), f.Aliases)
				}
			}
			t.Logf("%d functions with several symbols, perf's choice is not the manual's for %d", len(functions), other)
		})
	}
}

// perfForms returns the names that perf may print: one for each symbol that has the readable name
// of perf's choice.
func perfForms(f symtab.Function) (names []string) {
	readable := symtab.NewNames().Readable
	if f.PerfName != "" { // not mangled: printed unchanged
		names = append(names, f.PerfName)
	}
	for _, s := range symtab.Split(f.Aliases) {
		if name := readable(s); name != f.PerfName && (f.PerfName != "" || name != f.Name) {
			continue
		}
		if d, err := demangle.ToString(s, demangle.NoParams, demangle.NoClones); err == nil {
			s = d
		}
		names = append(names, s)
	}
	return names
}

// perfNames composes a recording that maps the object and has a sample at the
// start of each function, and returns the name that perf prints for each.
func perfNames(t *testing.T, perf, path string, table *symtab.Table, functions []symtab.Function) []string {
	t.Helper()
	const base, pid = 0x7f0000000000, 77
	var data bytes.Buffer
	record := func(kind uint32, fields ...any) {
		var body bytes.Buffer
		for _, f := range fields {
			binary.Write(&body, binary.LittleEndian, f)
		}
		binary.Write(&data, binary.LittleEndian, struct {
			Kind       uint32
			Misc, Size uint16 // Misc 2: user code
		}{kind, 2, uint16(8 + body.Len())})
		data.Write(body.Bytes())
	}
	name := append([]byte(path), make([]byte, 8-len(path)%8)...)
	for _, s := range table.Segments {
		if s.Flags&1 != 0 {
			record(1, uint32(pid), uint32(pid), uint64(base+s.Offset), s.FileSize, s.Offset, name)
		}
	}
	for _, f := range functions {
		record(9, uint64(base+f.Offset), uint32(pid), uint32(pid))
	}
	var file bytes.Buffer
	head, attr := uint64(104), uint64(64)
	file.WriteString("PERFILE2")
	for _, v := range []uint64{head, attr + 16, head, attr + 16, head + attr + 16, uint64(data.Len()), 0, 0, 0, 0, 0, 0} {
		binary.Write(&file, binary.LittleEndian, v)
	}
	// A software clock, period 1, samples with address and thread, mappings.
	for _, v := range []uint64{1 | attr<<32, 0, 1, 3, 0, 1 << 8, 0, 0, 0, 0} {
		binary.Write(&file, binary.LittleEndian, v)
	}
	file.Write(data.Bytes())
	dir := t.TempDir()
	recording := filepath.Join(dir, "perf.data")
	if err := os.WriteFile(recording, file.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(perf, "script", "-f", "-i", recording, "-F", "ip,sym")
	cmd.Env = append(os.Environ(), "HOME="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Skipf("%v: %s", err, out)
	}
	names := make([]string, len(functions))
	at := map[uint64]int{}
	for i, f := range functions {
		at[base+f.Offset] = i
	}
	for _, line := range strings.Split(string(out), "\n") {
		var ip uint64
		if n, _ := fmt.Sscanf(line, "%x", &ip); n == 1 {
			_, name, _ := strings.Cut(strings.TrimSpace(line), " ")
			name, _, _ = strings.Cut(name, "@") // a version
			names[at[ip]] = strings.TrimSpace(name)
		}
	}
	return names
}
