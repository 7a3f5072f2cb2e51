package disasm

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/isa"
)

// TestOperands compares memory operands with those that objdump prints in Intel's
// syntax, which has their sizes.
func TestOperands(t *testing.T) {
	needObjdump(t)
	files := slices.Clone(libraries)
	if testing.Short() {
		files = files[:1]
	}
	for _, file := range files {
		arch, ok := archOfFile(file)
		if !ok {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			c := comparer{t: t, arch: arch}
			objdump(t, arch, c.operands, "-M", "intel", "-d", file)
			c.report()
		})
	}
}

// inBrackets matches an operand in memory, with its segment if that is fs or gs.
var inBrackets = regexp.MustCompile(`(?:(\w+) (?:PTR|BCST) )?(?:(\w\w):)?(?:\[([^\]]*)\]|(0x[0-9a-f]+))`)

// silent matches the instructions that do not access their operand.
var silent = regexp.MustCompile(`^(lea|nop|prefetch|clflush|clwb|cldemote|invlpg|bnd[cls]|bndmk|ud\d|vgatherpf|vscatterpf|umonitor)`)

// sizesOf maps objdump's words for sizes; some operands have none.
var sizesOf = map[string]int{"BYTE": 1, "WORD": 2, "DWORD": 4, "FWORD": 6, "QWORD": 8, "TBYTE": 10, "OWORD": 16,
	"XMMWORD": 16, "YMMWORD": 32, "ZMMWORD": 64}

// operands compares the accesses with the operands that objdump prints.
func (c *comparer) operands(l line) {
	if notInstruction(l.text) || refused(l.code) || l.code[0] == 0x9b {
		return
	}
	text, comment, _ := strings.Cut(l.text, "#")
	text, _, _ = strings.Cut(text, "<")
	words := withoutPrefixes(strings.Fields(text))
	for len(words) > 1 && strings.HasPrefix(words[0], "{") { // the encoding
		words = words[1:]
	}
	name := words[0]
	e, err := Effects(c.arch, l.code, l.addr)
	if err != nil {
		c.errorf(l, "%v", err)
		return
	}
	c.n++
	switch {
	case objdumpOnly.MatchString(name) && len(e.Accesses) == 0,
		withPrefix.MatchString(name) && name != words0(l.text),
		moreThanOperands.MatchString(name),
		name == "pop" && e.Base == e.Accesses[0].Base: // the address is computed after the pop
		return
	}
	if strings.Contains(text, "[eip") || farOperand.MatchString(text) && strings.Contains(text, "rex.W") {
		return // 64-bit addresses, and sizes that only Intel's processors use
	}
	rest := strings.Join(words[1:], " ")
	want := []string{}
	if !silent.MatchString(name) && !e.HasTarget {
		for _, m := range inBrackets.FindAllStringSubmatch(rest, -1) {
			if m[3] != "" || m[2] != "" {
				want = append(want, operandText(c.arch, m, comment))
			}
		}
	}
	got := []string{}
	for _, m := range e.Accesses {
		if !m.Implicit {
			got = append(got, accessText(c.arch, &m))
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !sameOperands(got, want) {
		c.errorf(l, "%q, want %q", got, want)
	}
	c.direction(l, e, name, rest)
}

// sameOperands compares sorted texts. A size that is unknown, or that objdump does not print, equals
// any other.
func sameOperands(got, want []string) bool {
	return slices.EqualFunc(got, want, func(g, w string) bool {
		gs, gt, _ := strings.Cut(g, " ")
		ws, wt, _ := strings.Cut(w, " ")
		return gt == wt && (gs == ws || gs == "0" || ws == "0")
	})
}

// operandText returns the size, segment and sum of an operand that objdump prints.
func operandText(arch isa.Arch, m []string, comment string) string {
	segment, sum := "", m[3]
	if m[2] == "fs" || m[2] == "gs" {
		segment = "thread"
	}
	if sum == "" {
		sum = m[4]
	}
	size := sizesOf[m[1]]
	if strings.Contains(sum, "rip") || strings.Contains(sum, "eip") {
		sum = "0x" + strings.TrimPrefix(strings.Fields(comment)[0], "0x")
	}
	var parts []string
	disp := int64(0)
	for _, p := range strings.Split(strings.ReplaceAll(sum, "-", "+-"), "+") {
		if n, err := strconv.ParseUint(strings.TrimPrefix(p, "-"), 0, 64); err == nil {
			if disp = int64(n); p[0] == '-' {
				disp = -disp
			}
		} else if !strings.Contains(p, "iz") && !strings.Contains(p, "mm") {
			parts = append(parts, strings.TrimSuffix(p, "*1"))
		}
	}
	for i, p := range parts { // addresses of half the size
		if arch == isa.AMD64 {
			parts[i] = narrow.ReplaceAllString(p, "r$1$2")
		} else if len(p) == 2 {
			parts[i] = "e" + p
		}
	}
	return fmt.Sprintf("%d %s:%s%+#x", size, segment, strings.Join(parts, "+"), disp)
}

// Instructions that only objdump accepts, that a prefix turns into others, that access more memory
// than their operands name, and that use far pointers.
var (
	objdumpOnly      = regexp.MustCompile(`^(vpmov[bwdq]2m|vdbpsadbw|vrsqrt14|vpsh[lr]dw)`)
	withPrefix       = regexp.MustCompile(`^(fxsave|fxrstor|ldmxcsr|stmxcsr)`)
	moreThanOperands = regexp.MustCompile(`^(movdir64b|enqcmd|l[fgs]s$)`)
	farOperand       = regexp.MustCompile(`FWORD|(call|jmp) +DWORD`)
)

func words0(text string) string { return strings.Fields(text)[0] }

// narrow matches the names of 32-bit registers.
var narrow = regexp.MustCompile(`\be([a-z]+)|\br(\d+)d`)

// names64 and names32 are the registers' names by DWARF number.
var (
	names64 = strings.Fields("rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15")
	names32 = strings.Fields("eax ecx edx ebx esp ebp esi edi")
)

// accessText formats an access as operandText does an operand.
func accessText(arch isa.Arch, m *insn.Access) string {
	names, segment := names64, ""
	if arch == isa.X86 {
		names = names32
	}
	if m.Thread {
		segment = "thread"
	}
	var parts []string
	if m.Base != insn.NoRegister {
		parts = append(parts, names[m.Base])
	}
	if m.Index != insn.NoRegister {
		part := names[m.Index]
		if m.Scale != 1 {
			part += fmt.Sprintf("*%d", m.Scale)
		}
		parts = append(parts, part)
	}
	return fmt.Sprintf("%d %s:%s%+#x", m.Size, segment, strings.Join(parts, "+"), m.Disp)
}

// readOnly matches instructions that do not write their first operand, writeOnly those that do not
// read it; all others do both with a first operand in memory.
var (
	readOnly  = regexp.MustCompile(`^(cmp$|rstorssp|ldtilecfg|ptwrite|vmptrld|vmclear|vmxon|aes|test|bt$|mul$|imul|div$|idiv|push|jmp|call|f|ldmxcsr|vldmxcsr|l[gi]dt|scas|cmps$|lods|outs|ver|lldt|ltr|lmsw|xrstor|xlat)`)
	writeOnly = regexp.MustCompile(`^(v?mov|bndmov|vmread|sttilecfg|vmptrst|wrs|wrus|set|pop|v?stmxcsr|v?pextr|v?extract|vp?compress|vp?scatter|vmaskmov|vpmaskmov|vcvtps2ph|vpmov|kmov|stos|ins|xsave|fn?x?save|sgdt|sidt|sldt|str|smsw|fst|fist|fnst|fbst|tilestored)`)
)

// direction compares which accesses load and which store.
func (c *comparer) direction(l line, e insn.Effect, name, rest string) {
	if len(e.Accesses) != 1 || e.Accesses[0].Implicit || silent.MatchString(name) {
		return
	}
	m := e.Accesses[0]
	first, _, _ := strings.Cut(rest, ",")
	load, store := true, false
	if strings.Contains(first, "[") || strings.Contains(first, ":0x") {
		switch {
		case writeOnly.MatchString(name):
			load, store = false, true
		case readOnly.MatchString(name):
		default:
			store = true
		}
	} else if strings.HasPrefix(name, "xchg") {
		store = true
	}
	if m.Load != load || m.Store != store {
		c.errorf(l, "load %v, store %v", m.Load, m.Store)
	}
}

// TestOpcodeOperands compares the memory operands of every opcode of every map.
func TestOpcodeOperands(t *testing.T) {
	needObjdump(t)
	if testing.Short() {
		t.Skip("seconds of objdump")
	}
	for arch, machine := range map[isa.Arch]string{isa.AMD64: "i386:x86-64", isa.X86: "i386"} {
		t.Run(machine, func(t *testing.T) {
			c := comparer{t: t, arch: arch}
			disassemble(t, arch, machine, everyOpcode(arch), c.operands, "-M", "intel")
			c.report()
		})
	}
}
