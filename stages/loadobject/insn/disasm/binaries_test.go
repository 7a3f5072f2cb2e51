package disasm

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackmill/internal/corpus"
	"stackmill/stages/loadobject/isa"
)

// libraries have code from many compilers and for many processors; libc, libm and libcrypto use the
// newest vector instructions.
var libraries = []string{
	"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6",
	"/lib64/ld-linux-x86-64.so.2",
	"/lib/x86_64-linux-gnu/libm.so.6", "/lib64/libm.so.6",
	"/lib/x86_64-linux-gnu/libstdc++.so.6", "/lib64/libstdc++.so.6",
	"/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "/lib64/libcrypto.so.3",
	"/lib32/libc.so.6", "/lib/i386-linux-gnu/libc.so.6",
}

// TestSystemBinaries compares the installed ones of some libraries, and parts of large programs.
// STACKMILL_OBJDUMP_FILES lists more files.
func TestSystemBinaries(t *testing.T) {
	needObjdump(t)
	if testing.Short() {
		compareFile(t, libraries[0])
		return
	}
	for _, file := range slices.Concat(libraries, filepath.SplitList(os.Getenv("STACKMILL_OBJDUMP_FILES"))) {
		compareFile(t, file)
	}
	for _, command := range [][]string{{"go", "env", "GOROOT"}, {"gcc", "-print-prog-name=cc1"}} {
		out, err := exec.Command(command[0], command[1:]...).Output()
		if err != nil {
			continue
		}
		file := strings.TrimSpace(string(out))
		if command[0] == "go" {
			file = filepath.Join(file, "bin", "go")
		}
		compareFile(t, file, firstPart(file)...)
	}
}

// firstPart returns objdump's options for the first megabyte of code.
func firstPart(file string) []string {
	f, err := elf.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	text := f.Section(".text")
	if text == nil {
		return nil
	}
	return []string{fmt.Sprintf("--start-address=%#x", text.Addr), fmt.Sprintf("--stop-address=%#x", text.Addr+1<<20)}
}

// compareFile compares the instructions of an ELF file in a subtest, if the file exists.
func compareFile(t *testing.T, file string, args ...string) {
	arch, ok := archOfFile(file)
	if !ok {
		return
	}
	t.Run(filepath.Base(file), func(t *testing.T) {
		c := comparer{t: t, arch: arch}
		objdump(t, arch, c.line, append(args, "-d", file)...)
		c.report()
	})
}

// TestCorpusBinaries compares the load objects that recordings have archived, equal ones once.
func TestCorpusBinaries(t *testing.T) {
	needObjdump(t)
	dir := t.TempDir()
	if err := corpus.Unpack("../../../../testdata/gprofng/experiments.tar.gz", dir); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	err := filepath.WalkDir(filepath.Join(dir, "exp"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Base(filepath.Dir(path)) != "archives" || seen[d.Name()] {
			return err
		}
		seen[d.Name()] = true
		compareFile(t, path)
		return nil
	})
	if err != nil || len(seen) < 20 {
		t.Fatal(len(seen), err)
	}
}

// TestOpcodes compares every opcode of every map, with the prefixes and ModRM
// bytes that may change its length.
func TestOpcodes(t *testing.T) {
	needObjdump(t)
	if testing.Short() {
		t.Skip("seconds of objdump")
	}
	for arch, machine := range map[isa.Arch]string{isa.AMD64: "i386:x86-64", isa.X86: "i386"} {
		t.Run(machine, func(t *testing.T) {
			c := comparer{t: t, arch: arch}
			disassemble(t, arch, machine, everyOpcode(arch), c.line)
			c.report()
		})
	}
}

// disassemble makes objdump print instructions and calls each with them.
func disassemble(t *testing.T, arch isa.Arch, machine string, codes []string, each func(line), args ...string) {
	t.Helper()
	const slot = 18 // an instruction, and a nop up to the next one
	var code bytes.Buffer
	for _, c := range codes {
		code.WriteString(c + strings.Repeat("\x66", slot-len(c)-1) + "\x90")
	}
	file := filepath.Join(t.TempDir(), "code")
	if err := os.WriteFile(file, code.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	objdump(t, arch, func(l line) {
		if l.addr%slot == 0 {
			each(l)
		}
	}, append(args, "-D", "-b", "binary", "-m", machine, file)...)
}

// everyOpcode returns the first bytes of instructions with every opcode.
func everyOpcode(arch isa.Arch) (codes []string) {
	modrms := []string{"\x05", "\x44\x24", "\x80", "\x04\x25"}
	for reg := range byte(8) {
		modrms = append(modrms, string([]byte{reg << 3}), string([]byte{0xc0 | reg<<3}))
	}
	prefixes := []string{"", "\x66", "\xf2", "\xf3", "\x67"}
	if arch == isa.AMD64 {
		prefixes = append(prefixes, "\x48", "\x66\x48")
	}
	for op := range 256 {
		o := string([]byte{byte(op)})
		for _, m := range modrms {
			for _, p := range prefixes {
				if p != "" && op == 0x9b {
					continue // objdump joins fwait with the next instruction
				}
				codes = append(codes, p+o+m, p+"\x0f"+o+m, p+"\x0f\x38"+o+m, p+"\x0f\x3a"+o+m)
			}
		}
		for _, m := range append(modrms[:4:4], "\xc1", "\xc9", "\xd1", "\x0c\x20") {
			for pp := range byte(4) {
				for _, w := range []byte{0, 0x80} {
					for _, number := range []byte{1, 2, 3} {
						codes = append(codes, "\xc4"+string([]byte{0xe0 | number, 0x78 | w | pp})+o+m)
					}
					codes = append(codes, "\xc4"+string([]byte{0xe1, 0x74 | w | pp})+o+m)
					for _, number := range []byte{1, 2, 3, 5, 6} {
						codes = append(codes, "\x62"+string([]byte{0xf0 | number, 0x7c | w | pp, 0x48})+o+m)
						codes = append(codes, "\x62"+string([]byte{0xf0 | number, 0x7c | w | pp, 0x09})+o+m)
					}
				}
			}
			for _, number := range []byte{8, 9, 10} {
				codes = append(codes, "\x8f"+string([]byte{0xe0 | number, 0x78})+o+m)
			}
		}
	}
	return codes
}

// archOfFile returns the instruction set of a file; false if it does not exist or is not ELF.
func archOfFile(file string) (isa.Arch, bool) {
	f, err := elf.Open(file)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	arch := isa.Of(f.Machine, f.Class)
	return arch, arch != 0
}
