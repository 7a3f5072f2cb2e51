package pipeline

import (
	"bufio"
	"bytes"
	"strconv"
	"strings"

	"stackmill/internal/safefile"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/elf"
)

// runningKernel describes the running kernel by the paths of its files.
type runningKernel struct{ notes, symbols, host, release string }

// thisKernel is the kernel of this machine.
var thisKernel = runningKernel{"/sys/kernel/notes", "/proc/kallsyms", "/proc/sys/kernel/hostname", "/proc/sys/kernel/osrelease"}

// recorded reports whether this kernel, in this boot, was running when the recording was made: the
// symbols in /proc/kallsyms then have the recorded addresses, which change with each boot. Without
// a build-id, host and release must be the same; local says that files are looked for on this host.
func (k runningKernel) recorded(rec *decode.Recording, buildID string, local bool) bool {
	if buildID != "" {
		if elf.NotesBuildID(note(rec, k.notes)) != buildID {
			return false
		}
		return rec.Kernel.Address == 0 || k.has(rec)
	}
	_, release, _ := strings.Cut(rec.OS, " ")
	return local && rec.Kernel.Address != 0 && release != "" && release == line(rec, k.release) && rec.Host == line(rec, k.host) && k.has(rec)
}

// note reads a file about the kernel; nil if it is unreadable. A host error becomes the
// recording's.
func note(rec *decode.Recording, path string) []byte {
	b, err := safefile.Read(path, safefile.Note)
	rec.KeepHostError(err)
	return b
}

func line(rec *decode.Recording, path string) string {
	return strings.TrimSpace(string(note(rec, path)))
}

// has reports whether the recording's reference symbol has its recorded address in this kernel.
func (k runningKernel) has(rec *decode.Recording) bool {
	want := rec.Kernel
	f, _, err := safefile.Open(k.symbols, safefile.SymbolList)
	if err != nil {
		rec.KeepHostError(err)
		return false
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if fields := bytes.Fields(lines.Bytes()); len(fields) >= 3 && string(fields[2]) == want.Name {
			address, err := strconv.ParseUint(string(fields[0]), 16, 64)
			return err == nil && address == want.Address
		}
	}
	rec.KeepHostError(lines.Err())
	return false
}
