package disasm

import (
	"bufio"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/isa"
)

// line is an instruction as objdump prints it.
type line struct {
	addr uint64
	code []byte
	text string
}

// parseLine reads `  addr:\tbytes\ttext`; A64 words are printed as numbers.
func parseLine(arch isa.Arch, s string) (l line, ok bool) {
	fields := strings.SplitN(s, "\t", 3)
	if len(fields) < 2 {
		return l, false
	}
	var err error
	if l.addr, err = strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(fields[0]), ":"), 16, 64); err != nil {
		return l, false
	}
	if l.code, err = hex.DecodeString(strings.ReplaceAll(fields[1], " ", "")); err != nil {
		return l, false
	}
	if arch == isa.ARM64 {
		slices.Reverse(l.code)
	}
	if len(fields) == 3 {
		l.text = fields[2]
	}
	return l, true
}

// objdump calls each with every instruction that the program prints.
func objdump(t *testing.T, arch isa.Arch, each func(line), args ...string) {
	t.Helper()
	program := "objdump"
	if arch == isa.ARM64 {
		program = "aarch64-linux-gnu-objdump"
	}
	cmd := exec.Command(program, append([]string{"-w", "-z"}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for sc := bufio.NewScanner(out); sc.Scan(); {
		if l, ok := parseLine(arch, sc.Text()); ok {
			each(l)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("objdump %v: %v", args, err)
	}
}

// needObjdump skips the test without an objdump for x86, or fails it if STACKMILL_REQUIRE_GPROFNG
// is set.
func needObjdump(t *testing.T) {
	t.Helper()
	out, err := exec.Command("objdump", "-i").Output()
	if err == nil && strings.Contains(string(out), "elf64-x86-64") {
		return
	}
	if os.Getenv("STACKMILL_REQUIRE_GPROFNG") == "1" {
		t.Fatal("STACKMILL_REQUIRE_GPROFNG is set, but there is no objdump for x86: ", err)
	}
	t.Skip("no objdump for x86")
}

// comparer counts the instructions compared and reports the first differences.
type comparer struct {
	t           *testing.T
	arch        isa.Arch
	n, differed int
}

func (c *comparer) errorf(l line, format string, args ...any) {
	if c.differed++; c.differed <= 20 {
		c.t.Errorf("%x: % x %s: "+format, append([]any{l.addr, l.code, l.text}, args...)...)
	}
}

func (c *comparer) report() {
	c.t.Logf("%d instructions, %d differ", c.n, c.differed)
	if c.n == 0 {
		c.t.Error("no instructions")
	}
}

// line compares Decode with an instruction of objdump's: the same length whatever bytes follow,
// an error with one byte less, and the same target.
func (c *comparer) line(l line) {
	if notInstruction(l.text) || refused(l.code) {
		return
	}
	c.n++
	if l.code[0] == 0x9b && c.arch != isa.ARM64 {
		l.code = l.code[:1] // fwait, which objdump joins with the next instruction
	}
	n := len(l.code)
	for _, tail := range []string{"", "\xc3\xc3\xc3\xc3\xc3\xc3\xc3\xc3", "\xff\x00\x25\x0f\xc5\x66"} {
		inst, err := Decode(c.arch, append(l.code[:n:n], tail...), l.addr)
		if err != nil || inst.Len != n {
			c.errorf(l, "length %d, %v", inst.Len, err)
			return
		}
	}
	if _, err := Decode(c.arch, l.code[:n-1], l.addr); !errors.Is(err, insn.ErrTruncated) {
		c.errorf(l, "without its last byte: %v", err)
	}
	c.flow(l)
}

// notInstruction reports whether objdump prints bytes that are not an instruction: data, or prefixes
// that do not fit the opcode after them.
func notInstruction(text string) bool {
	if strings.Contains(text, "(bad)") || strings.Contains(text, "{bad}") {
		return true
	}
	words := strings.Fields(text)
	if len(words) > 0 && slices.Contains([]string{".byte", ".word", ".inst", "udf"}, words[0]) {
		return true
	}
	return len(withoutPrefixes(words)) == 0
}

// refused reports whether a VEX or EVEX prefix follows another prefix: objdump prints some such
// instructions, but no processor executes them.
func refused(code []byte) bool {
	i := slices.IndexFunc(code, func(b byte) bool { return b != 0x66 && b != 0xf2 && b != 0xf3 && b&^15 != 0x40 })
	return i > 0 && (code[i] == 0xc4 || code[i] == 0xc5 || code[i] == 0x62)
}

// withoutPrefixes returns the words of an x86 instruction from its mnemonic on.
func withoutPrefixes(words []string) []string {
	for len(words) > 0 && (slices.Contains(prefixNames, words[0]) || strings.HasPrefix(words[0], "rex")) {
		words = words[1:]
	}
	return words
}

var prefixNames = []string{"data16", "data32", "addr16", "addr32", "lock", "repz", "repnz", "rep", "bnd", "notrack", "xacquire", "xrelease",
	"cs", "ds", "es", "ss", "fs", "gs"}

// flow compares kind, target and slot.
func (c *comparer) flow(l line) {
	text, comment := l.text, ""
	if c.arch != isa.ARM64 {
		text, comment, _ = strings.Cut(text, "#")
	}
	text, _, _ = strings.Cut(text, "<")
	words := withoutPrefixes(strings.Fields(text))
	inst, err := Decode(c.arch, l.code, l.addr)
	if err != nil {
		c.errorf(l, "%v", err)
		return
	}
	op, operand := strings.Split(words[0], ",")[0], words[len(words)-1]
	want := mnemonicKind(c.arch, op)
	if inst.Kind != want && (want != insn.Other || inst.Kind == insn.Call || inst.Kind == insn.Jump || inst.Kind == insn.CondJump || inst.Kind == insn.Return) {
		c.errorf(l, "kind %v, want %v", inst.Kind, want)
	}
	if want != insn.Call && want != insn.Jump && want != insn.CondJump {
		return
	}
	if target, err := strconv.ParseUint(strings.TrimPrefix(operand, "0x"), 16, 64); err == nil != inst.HasTarget || target != inst.Target {
		c.errorf(l, "target %#x %v", inst.Target, inst.HasTarget)
	}
	if strings.Contains(operand, "(%rip)") {
		slot, _ := strconv.ParseUint(strings.Fields(comment)[0], 0, 64)
		if s, err := strconv.ParseUint(strings.Fields(comment)[0], 16, 64); err == nil {
			slot = s
		}
		if !inst.HasSlot || slot != inst.Slot {
			c.errorf(l, "slot %#x %v", inst.Slot, inst.HasSlot)
		}
	}
}

func mnemonicKind(arch isa.Arch, op string) insn.Kind {
	if arch == isa.ARM64 {
		return mnemonicKindARM64(op)
	}
	switch strings.TrimRight(op, "wlq") {
	case "ca", "lca": // call, lcall
		return insn.Call
	case "jmp", "ljmp":
		return insn.Jump
	case "ret", "lret", "iret", "sysret", "sysexit", "uiret":
		return insn.Return
	case "sysca", "sysenter": // syscall
		return insn.Syscall
	case "ud2", "int3", "h", "ud1", "ud0", "int1": // hlt
		return insn.Trap
	}
	if op[0] == 'j' || strings.HasPrefix(op, "loop") || strings.HasPrefix(op, "xbegin") {
		return insn.CondJump
	}
	return insn.Other
}

func mnemonicKindARM64(op string) insn.Kind {
	switch {
	case op == "bl", strings.HasPrefix(op, "blr"):
		return insn.Call
	case op == "b", op == "br", strings.HasPrefix(op, "bra"):
		return insn.Jump
	case strings.HasPrefix(op, "b."), op == "cbz", op == "cbnz", op == "tbz", op == "tbnz":
		return insn.CondJump
	case op == "ret", op == "retaa", op == "retab", strings.HasPrefix(op, "eret"), op == "drps":
		return insn.Return
	case op == "svc":
		return insn.Syscall
	case op == "brk", op == "hlt":
		return insn.Trap
	case op == "nop":
		return insn.Nop
	}
	return insn.Other
}
