package disasm

import (
	"encoding/binary"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/isa"
)

// TestEffectsARM64 checks the effects of instructions encoded by an assembler.
func TestEffectsARM64(t *testing.T) {
	checkEffects(t, isa.ARM64, []effectCase{
		{"mov x29, sp", "910003fd", "x29=sp/8 w x29"},
		{"mov x0, x1", "aa0103e0", "x0=x1/8 w x0"},
		{"mov w0, wzr", "2a1f03e0", "x0=0x0/4 w x0"},
		{"mov x0, #0x1234", "d2824680", "x0=0x1234/8 w x0"},
		{"mov w0, #-1", "12800000", "x0=0xffffffff/4 w x0"},
		{"movk x0, #1, lsl #16", "f2a00020", "w x0"},
		{"mov x0, #0x5555555555555555", "b200f3e0", "x0=0x5555555555555555/8 w x0"},
		{"adrp x16, 0x411000", "90000090", "x16=0x411000/8 w x16"},
		{"adr x1, 0x401008", "10000041", "x1=0x401008/8 w x1"},
		{"add x0, x1, #16", "91004020", "x0=x1+0x10/8 w x0"},
		{"sub sp, sp, #0x1, lsl #12", "d14007ff", "sp=sp-0x1000/8 w sp"},
		{"add x0, x1, x2, lsl #3", "8b020c20", "x0=x1+x2*8+0x0/8 w x0"},
		{"add x0, sp, w2, sxtw #2", "8b22cbe0", "x0=sp+x2*4+0x0/8 w x0"},
		{"sub x0, x0, x0", "cb000000", "x0=0x0/8 w x0"},
		{"sub x0, x1, x2", "cb020020", "x0=x1+x2*-1+0x0/8 w x0"},
		{"sub x0, x1, x2, lsl #3", "cb020c20", "x0=x1+x2*-8+0x0/8 w x0"},
		{"neg x0, x2", "cb0203e0", "x0=-+x2*-1+0x0/8 w x0"},
		{"sub x0, x1, w2, sxtw", "cb22c020", "x0=x1+x2*-1+0x0/8 w x0"},
		{"cmp x0, #1", "f100041f", ""},
		{"and x0, x1, #0xff", "92401c20", "w x0"},
		{"orr x0, x1, x2", "aa020020", "w x0"},
		{"sxtw x0, w1", "93407c20", "x0=x1:4/8 w x0"},
		{"uxtb w0, w1", "53001c20", "x0=x1:1/4 w x0"},
		{"lsl x0, x1, #3", "d37df020", "x0=-+x1*8+0x0/8 w x0"},
		{"csel x0, x1, x2, eq", "9a820020", "x0=x1?x2/8 w x0"},
		{"cset w0, eq", "1a9f17e0", "w x0"},
		{"madd x0, x1, x2, x3", "9b020c20", "x0=x3+x1*x2*1/8 w x0"},
		{"msub w0, w1, w2, w3", "1b028c20", "x0=x3+x1*x2*-1/4 w x0"},
		{"mul x0, x1, x2", "9b027c20", "x0=-+x1*x2*1/8 w x0"},
		{"smaddl x0, w1, w2, x3", "9b220c20", "x0=x3+x1*x2*1/8 w x0"},
		{"umull x0, w1, w2", "9ba27c20", "x0=-+x1*x2*1/8 w x0"},
		{"umulh x0, x1, x2", "9bc27c20", "w x0"},
		{"ccmp x0, #1, #0, eq", "fa410800", ""},
		{"bl .", "94000000", "w x30"},
		{"blr x3", "d63f0060", "w x30"},
		{"ret", "d65f03c0", ""},
		{"svc #0", "d4000001", "w x0"},
		{"mrs x3, tpidr_el0", "d53bd043", "x3=thread/8 w x3"},
		{"paciasp", "d503233f", "w x30"},
		{"ldr x0, [x1]", "f9400020", "x0=load/8 L8[x1+0x0] w x0"},
		{"ldr w0, [x1, #8]", "b9400820", "x0=load/4 L4[x1+0x8] w x0"},
		{"ldrb w0, [x1, #1]", "39400420", "x0=load/4 L1[x1+0x1] w x0"},
		{"ldrsw x0, [x1, #4]", "b9800420", "x0=load/8 L4[x1+0x4] w x0"},
		{"ldrsh w0, [x1], #2", "78c02420", "x0=load/4 L2[x1+0x0] w x0 x1 x1+2"},
		{"ldr x0, [sp, #-16]!", "f85f0fe0", "x0=load/8 L8[sp-0x10] w x0 sp sp-16"},
		{"str xzr, [sp, #16]", "f9000bff", "store $0x0 S8[sp+0x10]"},
		{"strh w2, [x1, x3, lsl #1]", "78237822", "store x2 S2[x1+x3*2+0x0]"},
		{"ldr x0, [x1, w2, sxtw #3]", "f862d820", "x0=load/8 L8[x1+x2*8+0x0] w x0"},
		{"ldr x0, 0x401100", "58000800", "x0=load/8 La8[+0x401100] w x0"},
		{"ldur x0, [x29, #-8]", "f85f83a0", "x0=load/8 L8[x29-0x8] w x0"},
		{"ldr d0, [x1, #8]", "fd400420", "LF8[x1+0x8]"},
		{"str q0, [x1], #16", "3c810420", "SV16[x1+0x0] w x1 x1+16"},
		{"ldr s1, [x2, x3, lsl #2]", "bc637841", "LF4[x2+x3*4+0x0]"},
		{"prfm pldl1keep, [x1]", "f9800020", ""},
		{"ldp x29, x30, [sp], #32", "a8c27bfd", "x29,x30=load/8 L8[sp+0x0] L8[sp+0x8] w x29 x30 sp sp+32"},
		{"stp x29, x30, [sp, #-32]!", "a9be7bfd", "store x29,x30 S8[sp-0x20] S8[sp-0x18] w sp sp-32"},
		{"ldpsw x0, x1, [x2, #8]", "69410440", "x0,x1=load/8 L4[x2+0x8] L4[x2+0xc] w x0 x1"},
		{"stp d8, d9, [sp, #16]", "6d0127e8", "SF8[sp+0x10] SF8[sp+0x18]"},
		{"stp q0, q1, [x0]", "ad000400", "SV16[x0+0x0] SV16[x0+0x10]"},
		{"ldxr x0, [x1]", "c85f7c20", "x0=load/8 L8[x1+0x0] w x0"},
		{"stlxr w2, w0, [x1]", "8802fc20", "S4[x1+0x0] w x2"},
		{"ldar w0, [x1]", "88dffc20", "x0=load/4 L4[x1+0x0] w x0"},
		{"stlr x0, [x1]", "c89ffc20", "store x0 S8[x1+0x0]"},
		{"ldapurb w0, [x1, #-1]", "195ff020", "x0=load/4 L1[x1-0x1] w x0"},
		{"ldxp x0, x1, [x2]", "c87f0440", "x0,x1=load/8 L8[x2+0x0] L8[x2+0x8] w x0 x1"},
		{"stxp w3, w0, w1, [x2]", "88230440", "S4[x2+0x0] S4[x2+0x4] w x3"},
		{"cas x0, x1, [x2]", "c8a07c41", "LS8[x2+0x0] w x0"},
		{"caspal x0, x1, x2, x3, [x4]", "4860fc82", "LS16[x4+0x0] w x0 x1"},
		{"ldadd w0, w1, [x2]", "b8200041", "LS4[x2+0x0] w x1"},
		{"stadd x0, [x2]", "f820005f", "LS8[x2+0x0]"},
		{"swpb w0, w1, [x2]", "38208041", "LS1[x2+0x0] w x1"},
		{"ldapr x0, [x1]", "f8bfc020", "x0=load/8 L8[x1+0x0] w x0"},
		{"ld64b x0, [x10]", "f83fd140", "L64[x10+0x0] w x0 x1 x2 x3 x4 x5 x6 x7"},
		{"ldraa x0, [x1, #-8]!", "f87ffc20", "x0=load/8 L8[x1-0x8] w x0 x1 x1-8"},
		{"ld1 {v0.16b, v1.16b}, [x0], #32", "4cdfa000", "LV32[x0+0x0] w x0 x0+32"},
		{"ld4 {v0.8b-v3.8b}, [x0], x2", "0cc20000", "LV32[x0+0x0] w x0"},
		{"st1 {v0.s}[1], [x0]", "0d009000", "SV4[x0+0x0]"},
		{"ld1r {v0.8h}, [x0], #2", "4ddfc400", "LV2[x0+0x0] w x0 x0+2"},
		{"cpyfp [x0]!, [x1]!, x2!", "19010440", "LrV0[x1+0x0] SrV0[x0+0x0] w x0 x1 x2"},
		{"dc zva, x3", "d50b7423", "SV0[x3+0x0]"},
		{"stzg x0, [x1], #16", "d9601420", "SV16[x1+0x0] w x1 x1+16"},
		{"stgp x0, x1, [x2, #16]", "69008440", "store x0,x1 S8[x2+0x10] S8[x2+0x18]"},
		{"umov w0, v1.b[2]", "0e053c20", "w x0"},
		{"fmov x0, d1", "9e660020", "w x0"},
		{"fcvtzs w0, s1", "1e380020", "w x0"},
		{"scvtf d0, x1", "9e620020", ""},
		{"ld1d z0.d, p0/z, [x1, x2, lsl #3]", "a5e24020", "LxV0[x1+0x0]"},
		{"addvl sp, sp, #-1", "043f57ff", "w sp"},
		{"cntd x0", "04e0e3e0", "w x0"},
		{"mrs x3, nzcv", "d53b4203", "w x3"},
	})
}

// TestARM64Operands compares operands in memory and written registers with the output of a cross
// compiler's objdump.
func TestARM64Operands(t *testing.T) {
	files, _ := filepath.Glob("/usr/aarch64-linux-gnu/lib/lib[cmg]*.so.?")
	if _, err := exec.LookPath("aarch64-linux-gnu-objdump"); err != nil || len(files) == 0 {
		t.Skip("no A64 objdump and libraries (Debian: binutils-aarch64-linux-gnu, libstdc++6-arm64-cross)")
	}
	for _, file := range files {
		if arch, ok := archOfFile(file); ok {
			t.Run(filepath.Base(file), func(t *testing.T) {
				c := comparer{t: t, arch: arch}
				objdump(t, arch, c.operandsARM64, "-d", file)
				c.report()
			})
		}
	}
}

var (
	memoryARM64 = regexp.MustCompile(`(?:^|[ ,])\[([xs][^\]]*)\](!?)(?:, #?(-?\w+))?`)
	// Instructions that write no operand, and those that write an operand other than the first.
	writesNone = regexp.MustCompile(`^(st[^x]|cmp|cmn|tst|ccm[np]|cbn?z|tbn?z|b|br|blr|bl|ret.*|prf.*|msr|dc|ic|tlbi|at|svc|brk|hlt|udf|f?c?cmpe?|fccmpe?|fcmpe?|cb.*|hint|nop|.mb|isb|bti|pac.*|aut.*|xpaclri|yield|wfe|wfi|sev.*|clrex|csdb|sb|esb|ctermeq|ctermne|setf.*|rmif|sys|d[cg]h|hvc|smc)$|^st[a-wyz]|^b\.|^st[pr]|^stl[rlu]|^sttr|^stnp|^st[1-4]`)
	atomics    = regexp.MustCompile(`^(cas|swp|ldadd|ldclr|ldeor|ldset|ld[su]max|ld[su]min|stx|stlx|paci|auti|cpy|set[pme])`)
	// Accesses to tags only, and instructions with two operands in memory.
	notAlone   = regexp.MustCompile(`^(ldgm?|st2?z?gm?|cpy\w+|set[gpme]\w*)$`)
	loadsPair  = regexp.MustCompile(`^ld(n|x|ax|ia)?p(sw)?$`)
	generalReg = regexp.MustCompile(`^([wx])(\d+|zr)$|^(w?sp)$`)
)

func registerARM64(s string) (insn.Register, bool) {
	m := generalReg.FindStringSubmatch(s)
	switch {
	case m == nil || m[2] == "zr":
		return insn.NoRegister, false
	case m[3] != "":
		return 31, true
	}
	n, _ := strconv.Atoi(m[2])
	return insn.Register(n), true
}

var withoutBraces = strings.NewReplacer("{", "", "}", "")

// operandsARM64 compares an effect with the text of an instruction.
func (c *comparer) operandsARM64(l line) {
	if notInstruction(l.text) {
		return
	}
	text, _, _ := strings.Cut(l.text, "//")
	text, _, _ = strings.Cut(text, "<")
	name, rest, _ := strings.Cut(strings.TrimSpace(text), "\t")
	e, err := Effects(isa.ARM64, l.code, l.addr)
	if err != nil {
		c.errorf(l, "%v", err)
		return
	}
	if binary.LittleEndian.Uint32(l.code)>>25&15 == 2 { // scalable vectors: Effects lists registers that may be written
		return
	}
	c.n++
	rest = strings.TrimSpace(rest)
	if notAlone.MatchString(name) {
		return
	}
	want, update := wantMemory(name, rest, l.addr)
	got := ""
	if len(e.Accesses) > 0 && name != "dc" {
		m := e.Accesses[0]
		got = effectText(isa.ARM64, &insn.Effect{Accesses: []insn.Access{{Base: m.Base, Index: m.Index, Scale: m.Scale, Disp: m.Disp, Size: m.Size}},
			Dest: insn.NoRegister, Source: insn.NoRegister, Second: insn.NoRegister, Base: insn.NoRegister})
		if n := sizeARM64(name, rest); n == 0 {
			_, got, _ = strings.Cut(got, "[")
			got = "[" + got
		} else if want != "" {
			want = fmt.Sprint(n) + want
		}
	}
	if e.Base != insn.NoRegister {
		got += fmt.Sprintf(" %d%+d", e.Base, e.Update)
	}
	if got != want+update {
		c.errorf(l, "%q, want %q", got, want+update)
	}
	c.writtenARM64(l, &e, name, rest)
}

// wantMemory returns the operand in memory as effectText writes it, and the update of its base.
func wantMemory(name, rest string, addr uint64) (memory, update string) {
	operands := strings.Split(rest, ", ")
	if strings.HasPrefix(name, "prf") || strings.HasPrefix(name, "rprf") {
		return "", ""
	}
	m := memoryARM64.FindStringSubmatch(rest)
	if m == nil {
		target, err := strconv.ParseUint(strings.TrimPrefix(operands[len(operands)-1], "0x"), 16, 64)
		if strings.HasPrefix(name, "ldr") && err == nil {
			return fmt.Sprintf("[%+#x]", int64(target)), ""
		}
		return "", ""
	}
	parts := strings.Split(m[1], ", ")
	base, _ := registerARM64(parts[0])
	index, scale, disp := insn.NoRegister, 1, int64(0)
	for _, p := range parts[1:] {
		if n, err := strconv.ParseInt(strings.TrimPrefix(p, "#"), 0, 64); err == nil {
			disp = n
		} else if r, ok := registerARM64(p); ok {
			index = r
		} else if _, shift, ok := strings.Cut(p, "#"); ok {
			n, _ := strconv.Atoi(shift)
			scale = 1 << n
		}
	}
	text := "[" + nameARM64(base)
	if index != insn.NoRegister {
		text += fmt.Sprintf("+%s*%d", nameARM64(index), scale)
	}
	text += fmt.Sprintf("%+#x]", disp)
	if m[2] != "" {
		update = fmt.Sprintf(" %d%+d", base, disp)
	}
	if n, err := strconv.ParseInt(m[3], 0, 64); err == nil {
		update = fmt.Sprintf(" %d%+d", base, n)
	}
	return text, update
}

func nameARM64(r insn.Register) string {
	if r == 31 {
		return "sp"
	}
	return fmt.Sprintf("x%d", r)
}

// plainARM64 matches loads and stores whose size the name's end or the first operand shows.
var plainARM64 = regexp.MustCompile(`^(ld|st)(a|l|x|ax|lx|ap|lu|apu|t|u|n)?(r|ur|p)(s?)([bhw]?)$`)

// sizeARM64 returns the number of bytes that an access moves, 0 if the text does not show it.
func sizeARM64(name, rest string) int {
	m := plainARM64.FindStringSubmatch(name)
	if m == nil {
		return 0
	}
	operands := strings.Split(rest, ", ")
	first := operands[0]
	if (strings.Contains(name, "stx") || strings.Contains(name, "stlx")) && len(operands) > 2 {
		first = operands[1]
	}
	size := map[byte]int{'w': 4, 'x': 8, 'b': 1, 'h': 2, 's': 4, 'd': 8, 'q': 16}[first[0]]
	switch m[5] {
	case "b":
		return 1
	case "h":
		return 2
	case "w":
		return 4
	}
	return size
}

// writtenARM64 compares the general registers that are written.
func (c *comparer) writtenARM64(l line, e *insn.Effect, name, rest string) {
	if atomics.MatchString(name) || e.Kind == insn.Call || e.Kind == insn.Syscall {
		return
	}
	operands := strings.Split(withoutBraces.Replace(rest), ", ")
	want := uint64(0)
	add := func(s string) {
		if r, ok := registerARM64(s); ok {
			want |= 1 << r
		}
	}
	if !writesNone.MatchString(name) {
		add(operands[0])
		if loadsPair.MatchString(name) {
			add(operands[1])
		}
	}
	if m := memoryARM64.FindStringSubmatch(rest); m != nil && (m[2] != "" || m[3] != "") {
		add(strings.Split(m[1], ", ")[0])
	}
	if name == "paciasp" || name == "autiasp" || name == "xpaclri" || strings.HasSuffix(name, "sp") && strings.HasPrefix(name, "pac") {
		want |= 1 << 30
	}
	if e.Written != want {
		c.errorf(l, "written %#x, want %#x", e.Written, want)
	}
	if op := computedARM64(name, operands); op != "" && op != strings.Split(effectText(isa.ARM64, e), " ")[0] {
		c.errorf(l, "%q, want %q", effectText(isa.ARM64, e), op)
	}
	if e.Dest != insn.NoRegister && slices.Contains([]insn.Op{insn.Move, insn.SetConst, insn.Load, insn.AddConst, insn.AddRegister, insn.Choose, insn.Extend, insn.LoadPair}, e.Op) && want>>e.Dest&1 == 0 {
		c.errorf(l, "destination %d", e.Dest)
	}
}

// computedARM64 returns effectText's form of the simplest operations.
func computedARM64(name string, operands []string) string {
	to, ok := registerARM64(operands[0])
	if !ok || len(operands) < 2 {
		return ""
	}
	width := 8
	if operands[0][0] == 'w' {
		width = 4
	}
	from, isRegister := registerARM64(operands[1])
	last := strings.TrimPrefix(operands[len(operands)-1], "#")
	n, err := strconv.ParseInt(last, 0, 64)
	if u, uerr := strconv.ParseUint(last, 0, 64); err != nil && uerr == nil {
		n, err = int64(u), nil
	}
	switch {
	case name == "mov" && isRegister:
		return fmt.Sprintf("%s=%s/%d", nameARM64(to), nameARM64(from), width)
	case name == "mov" && err == nil:
		if width == 4 {
			n &= 1<<32 - 1
		}
		return fmt.Sprintf("%s=%#x/%d", nameARM64(to), n, width)
	case name == "adr" || name == "adrp":
		target, _ := strconv.ParseUint(strings.TrimPrefix(last, "0x"), 16, 64)
		return fmt.Sprintf("%s=%#x/8", nameARM64(to), int64(target))
	case (name == "add" || name == "sub") && isRegister && err == nil && len(operands) == 3 && n != 0:
		if name == "sub" {
			n = -n
		}
		return fmt.Sprintf("%s=%s%+#x/%d", nameARM64(to), nameARM64(from), n, width)
	case strings.HasPrefix(name, "sxt") || strings.HasPrefix(name, "uxt") && isRegister:
		return fmt.Sprintf("%s=%s:%d/%d", nameARM64(to), nameARM64(from), map[byte]int{'b': 1, 'h': 2, 'w': 4}[name[3]], width)
	}
	return ""
}
