package synthetic

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

// Functions with the highest values are disassembled completely up to a number of instructions; the
// others at their start and at their PCs. An archived source is stored with all lines.
func TestLongFunctions(t *testing.T) {
	const size = 20_000
	path := filepath.Join(t.TempDir(), "long.er")
	e := gprofngtest.New(path)
	for i, f := range []string{"main", "wait", "work"} {
		address := uint64(base + i*0x10000)
		e.Function(0, address, size, f)
		lines := []decode.CodeLine{{Offset: 0, Line: int32(2*i + 1)}, {Offset: 4, Line: int32(2*i + 2)}}
		e.Code(0, address, append(bytes.Repeat([]byte{0x90}, size-2), 0x0f, 0xff), "/src/long.c", lines)
	}
	e.Archive("/src/long.c", []byte("main\n call\nwait\n\twait\nwork\n\twork\nend\n"))
	e.Declare(schema.Clock, `ptimer="1000" numstates="1"`)
	const pc = base + 4
	for i, stack := range []uint64{e.Frame(pc+0x20000, pc), e.Frame(pc+0x20000, pc), e.Frame(pc+0x10000, pc)} {
		put(e, schema.Clock, 0, int64(i)*ms, stack, 10, 1)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	db := store(t, path)
	for question, want := range map[string][]string{
		`SELECT function, count(*), min(code_offset), max(code_offset + size), count(*) FILTER (inclusive > 0), count(*) FILTER (high)
			FROM disasm WHERE mode = 'user' GROUP BY ALL ORDER BY ALL`: {"main 2 0 5 1 1", "wait 20000 0 20000 1 1", "work 20000 0 20000 1 1"},
		`SELECT function, code_offset, text, line FROM disasm WHERE mode = 'user' AND (code_offset = 4 OR text <> 'nop') ORDER BY ALL`: {
			"main 4 nop 2", "wait 4 nop 4", "wait 19998 .byte 0x0f 4", "wait 19999 .byte 0xff 4",
			"work 4 nop 6", "work 19998 .byte 0x0f 6", "work 19999 .byte 0xff 6"},
		`SELECT line, text, functions, exclusive, inclusive, high, has_code FROM source WHERE mode = 'user' ORDER BY line`: {
			"1 main main 0 0 false true", "2  call  0 3000000 true true", "3 wait wait 0 0 false true", "4 \twait  1000000 1000000 false true",
			"5 work work 0 0 false true", "6 \twork  2000000 2000000 true true", "7 end  0 0 false false"},
		"SELECT reason FROM problems WHERE reason LIKE '%source'": nil,
	} {
		if diff := cmp.Diff(want, lines(t, db, question)); diff != "" {
			t.Errorf("%s\n%s", question, diff)
		}
	}
}

// Source text that was changed after the recording is shown, with a remark.
func TestChangedSource(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "gen.c")
	// Only files that everyone may read are read at their recorded paths.
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.WriteFile(file, []byte("one\ntwo\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	const wall = 1764000000
	for _, test := range []struct {
		modified time.Time
		want     []string
	}{
		{time.Now(), []string{"info stale-source"}},
		{time.Unix(0, 0), nil},
		{time.Unix(wall, int64(time.Second-2)), nil}, // the log has whole seconds: perhaps before
		{time.Unix(wall+1, 0), []string{"info stale-source"}},
	} {
		if err := os.Chtimes(file, test.modified, test.modified); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "changed.er")
		e := gprofngtest.New(path)
		e.Wall = wall
		e.Function(0, base, 0x100, "main")
		e.Code(0, base, bytes.Repeat([]byte{0x90}, 0x100), file, []decode.CodeLine{{Offset: 0, Line: 1}})
		e.Declare(schema.Clock, `ptimer="1000" numstates="1"`)
		put(e, schema.Clock, 0, ms, e.Frame(pcMain), 10, 1)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		db := store(t, path)
		if diff := cmp.Diff([]string{"one", "two"}, lines(t, db, "SELECT text FROM source WHERE mode = 'user' ORDER BY line")); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(test.want, lines(t, db, "SELECT severity, reason FROM problems WHERE reason LIKE '%source'")); diff != "" {
			t.Errorf("changed %v: %s", test.modified, diff)
		}
	}
}
