package pipeline

import (
	"bufio"
	"bytes"
	"strconv"
	"strings"

	"stackmill/stages/decode"
	"stackmill/stages/infile"
	"stackmill/stages/loadobject/elf"
)

// running is the running kernel, as the files describe it.
type running struct{ notes, symbols, host, release string }

// here is the kernel of this machine.
var here = running{"/sys/kernel/notes", "/proc/kallsyms", "/proc/sys/kernel/hostname", "/proc/sys/kernel/osrelease"}

// recorded reports whether it is the kernel of a recording, at the same addresses: its
// symbols are a list of addresses, which change at each boot. A recording without the
// kernel's build-id must be of this host, and its files must be this machine's.
func (k running) recorded(rec *decode.Recording, buildID string, local bool) bool {
	if buildID != "" {
		if notes, err := infile.Read(k.notes, infile.Note); err != nil || elf.NotesBuildID(notes) != buildID {
			return false
		}
		return rec.Kernel.Address == 0 || k.has(rec.Kernel)
	}
	_, release, _ := strings.Cut(rec.OS, " ")
	return local && rec.Kernel.Address != 0 && release != "" && release == line(k.release) && rec.Host == line(k.host) && k.has(rec.Kernel)
}

func line(path string) string {
	b, _ := infile.Read(path, infile.Note) // a file that cannot be read does not match
	return strings.TrimSpace(string(b))
}

// has reports whether the kernel's list has a symbol at its recorded address.
func (k running) has(want decode.KernelSymbol) bool {
	f, _, err := infile.Open(k.symbols, infile.SymbolList)
	if err != nil {
		return false
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := bytes.Fields(lines.Bytes()); len(fields) >= 3 && string(fields[2]) == want.Name {
			address, err := strconv.ParseUint(string(fields[0]), 16, 64)
			return err == nil && address == want.Address
		}
	}
	return false
}
