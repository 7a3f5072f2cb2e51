package pipeline

import (
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"stackmill/stages/decode"
)

// The running kernel is the recording's only if it is at the same addresses.
func TestRunning(t *testing.T) {
	const id = "00112233445566778899aabbccddeeff00112233"
	desc, err := hex.DecodeString(id)
	if err != nil {
		t.Fatal(err)
	}
	note := binary.LittleEndian.AppendUint32(nil, 4)
	note = binary.LittleEndian.AppendUint32(note, uint32(len(desc)))
	note = binary.LittleEndian.AppendUint32(note, 3)
	note = append(append(note, "GNU\x00"...), desc...)
	file := func(name, content string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	k := runningKernel{
		notes: file("notes", string(note)), host: file("host", "mill\n"), release: file("release", "6.1.0-x\n"),
		symbols: file("kallsyms", "0000000000000000 A fixed\nffffffff81000000 T _stext\nffffffff81000000 T _text\nffffffff81000010 T start\n"),
	}
	text := decode.KernelSymbol{Name: "_text", Address: 0xffffffff81000000}
	moved := decode.KernelSymbol{Name: "_text", Address: 0xffffffff9a000000}
	for _, c := range []struct {
		name   string
		rec    *decode.Recording
		id     string
		moved  bool // its files are elsewhere
		wanted bool
	}{
		{"the same", &decode.Recording{Kernel: text}, id, false, true},
		{"files elsewhere", &decode.Recording{Kernel: text}, id, true, true},
		{"no symbol recorded", &decode.Recording{}, id, false, true},
		{"started again", &decode.Recording{Kernel: moved}, id, false, false},
		{"another kernel", &decode.Recording{Kernel: text}, "aa" + id[2:], false, false},
		{"no build-id", &decode.Recording{Kernel: text, Host: "mill", OS: "Linux 6.1.0-x"}, "", false, true},
		{"no build-id, another host", &decode.Recording{Kernel: text, Host: "saw", OS: "Linux 6.1.0-x"}, "", false, false},
		{"no build-id, another release", &decode.Recording{Kernel: text, Host: "mill", OS: "Linux 6.1.0-y"}, "", false, false},
		{"no build-id, started again", &decode.Recording{Kernel: moved, Host: "mill", OS: "Linux 6.1.0-x"}, "", false, false},
		{"no build-id, files elsewhere", &decode.Recording{Kernel: text, Host: "mill", OS: "Linux 6.1.0-x"}, "", true, false},
		{"nothing recorded", &decode.Recording{}, "", false, false},
	} {
		if got := k.recorded(c.rec, c.id, !c.moved); got != c.wanted {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
