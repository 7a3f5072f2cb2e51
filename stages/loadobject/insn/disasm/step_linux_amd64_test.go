package disasm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/insn/x86"
	"stackmill/stages/loadobject/isa"
)

// TestStep runs programs one instruction at a time and compares Effects with what the processor
// did. STACKMILL_STEPS limits the instructions per program; STACKMILL_STEP_PROGRAMS lists more
// programs, which are run without arguments.
func TestStep(t *testing.T) {
	steps := 20_000
	if n, err := strconv.Atoi(os.Getenv("STACKMILL_STEPS")); err == nil {
		steps = n
	}
	for _, program := range slices.Concat([]string{"/bin/true", "/bin/ls"}, filepath.SplitList(os.Getenv("STACKMILL_STEP_PROGRAMS"))) {
		t.Run(filepath.Base(program), func(t *testing.T) {
			s := startStepper(t, program)
			for ; s.steps < steps && s.step(); s.steps++ {
			}
			t.Logf("%d steps, %d instructions of %d operations", s.steps, len(s.seen), len(s.ops))
			if s.steps < 1000 {
				t.Error("hardly any steps")
			}
		})
	}
}

// TestStepRegisters does the same with a program that writes registers in all ways.
func TestStepRegisters(t *testing.T) {
	program := filepath.Join(t.TempDir(), "registers")
	if out, err := exec.Command("gcc", "-nostdlib", "-static", "-no-pie", "-o", program, "testdata/registers.s").CombinedOutput(); err != nil {
		t.Skipf("no assembler: %v %s", err, out)
	}
	s := startStepper(t, program)
	for s.step() {
		s.steps++
	}
	t.Logf("%d steps, %d instructions", s.steps, len(s.seen))
	if s.steps < 20 {
		t.Error("hardly any steps")
	}
}

// stepper is a traced process.
type stepper struct {
	t     *testing.T
	pid   int
	mem   *os.File
	steps int
	seen  map[uint64]insn.Effect
	ops   map[insn.Op]int
	regs  syscall.PtraceRegs
}

func startStepper(t *testing.T, program string) *stepper {
	runtime.LockOSThread() // only the thread that starts the process may trace it
	t.Cleanup(runtime.UnlockOSThread)
	cmd := exec.Command(program)
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		t.Skip("cannot trace: ", err)
	}
	_ = cmd.Wait() // it stops before its first instruction
	s := &stepper{t: t, pid: cmd.Process.Pid, seen: map[uint64]insn.Effect{}, ops: map[insn.Op]int{}}
	t.Cleanup(func() {
		_ = syscall.Kill(s.pid, syscall.SIGKILL)
		var status syscall.WaitStatus
		_, _ = syscall.Wait4(s.pid, &status, 0, nil)
	})
	var err error
	if s.mem, err = os.Open(fmt.Sprintf("/proc/%d/mem", s.pid)); err != nil {
		t.Skip("cannot trace: ", err)
	}
	t.Cleanup(func() { s.mem.Close() })
	if err := syscall.PtraceGetRegs(s.pid, &s.regs); err != nil {
		t.Skip("cannot trace: ", err)
	}
	return s
}

// step runs an instruction and reports whether the process continues.
func (s *stepper) step() bool {
	before := s.regs
	e, ok := s.seen[before.Rip]
	var code [x86.MaxLength]byte
	n, _ := s.mem.ReadAt(code[:], int64(before.Rip))
	if n == 0 { // the process has executed another program
		return false
	}
	if !ok {
		var err error
		if e, err = Effects(isa.AMD64, code[:n], before.Rip); err != nil {
			s.t.Fatalf("%x: % x: %v", before.Rip, code[:n], err)
		}
		s.seen[before.Rip] = e
	}
	s.ops[e.Op]++
	was := s.values(&before, e.Accesses)
	if err := syscall.PtraceSingleStep(s.pid); err != nil {
		s.t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(s.pid, &status, 0, nil); err != nil {
		s.t.Fatal(err)
	}
	if !status.Stopped() || status.StopSignal() != syscall.SIGTRAP { // ended, or an invalid instruction
		return false
	}
	if err := syscall.PtraceGetRegs(s.pid, &s.regs); err != nil {
		s.t.Fatal(err)
	}
	is := s.values(&before, e.Accesses)
	if s.regs.Rip == before.Rip || e.Kind == insn.Syscall || was == nil || is == nil { // among others, a repetition
		return true
	}
	if err := check(&e, &before, &s.regs, was, is); err != nil {
		s.t.Errorf("%x: % x %s: %v", before.Rip, code[:e.Len], Text(isa.AMD64, code[:n], before.Rip), err)
		return len(s.seen) < 1<<20
	}
	return true
}

// values reads the memory of accesses of up to eight bytes. It returns nil if the kernel does not
// let other processes read it.
func (s *stepper) values(regs *syscall.PtraceRegs, accesses []insn.Access) []uint64 {
	values := []uint64{}
	for _, m := range accesses {
		var b [8]byte
		if _, err := s.mem.ReadAt(b[:min(m.Size, 8)], int64(address(regs, &m))); err != nil {
			return nil
		}
		values = append(values, binary.LittleEndian.Uint64(b[:]))
	}
	return values
}

func address(regs *syscall.PtraceRegs, m *insn.Access) uint64 {
	a := uint64(m.Disp)
	if m.Base != insn.NoRegister {
		a += general(regs, m.Base)
	}
	if m.Index != insn.NoRegister {
		a += general(regs, m.Index) * uint64(m.Scale)
	}
	if m.Thread {
		a += regs.Fs_base
	}
	return a
}

// general returns a register by its DWARF number, 0 for none.
func general(r *syscall.PtraceRegs, n insn.Register) uint64 {
	if n == insn.NoRegister {
		return 0
	}
	return [...]uint64{r.Rax, r.Rdx, r.Rcx, r.Rbx, r.Rsi, r.Rdi, r.Rbp, r.Rsp,
		r.R8, r.R9, r.R10, r.R11, r.R12, r.R13, r.R14, r.R15}[n]
}

// low returns the lowest n bytes.
func low(v uint64, n int) uint64 {
	if n >= 8 {
		return v
	}
	return v & (1<<(8*n) - 1)
}

// check compares an effect with the registers and the memory before and after
// the instruction.
func check(e *insn.Effect, before, behind *syscall.PtraceRegs, was, is []uint64) error {
	for r := range insn.Register(16) {
		if e.Kind == insn.Call && r == 7 { // Effects omits the push of a call
			continue
		}
		if general(before, r) != general(behind, r) && e.Written>>r&1 == 0 {
			return fmt.Errorf("writes %s", names64[r])
		}
	}
	if e.Base != insn.NoRegister && general(behind, e.Base) != general(before, e.Base)+uint64(e.Update) {
		return fmt.Errorf("%s %+d", names64[e.Base], general(behind, e.Base)-general(before, e.Base))
	}
	source := general(before, e.Source)
	switch e.Op {
	case insn.Opaque:
		return nil
	case insn.Store:
		want := source
		if e.Source == insn.NoRegister {
			want = uint64(e.Value)
		}
		if n := e.Accesses[0].Size; is[0] != low(want, n) {
			return fmt.Errorf("stored %#x, want %#x", is[0], low(want, n))
		}
		return nil
	}
	if e.Written>>e.Dest&1 == 0 {
		return errors.New("the destination is not among what is written")
	}
	old, got := general(before, e.Dest), general(behind, e.Dest)
	if e.Width < 4 && got>>(8*e.Width) != old>>(8*e.Width) || e.Width == 4 && got>>32 != 0 {
		return fmt.Errorf("%#x, wrote more than %d bytes", got, e.Width)
	}
	var want []uint64
	n := e.Width
	switch e.Op {
	case insn.Move:
		want = []uint64{source}
	case insn.SetConst:
		want = []uint64{uint64(e.Value)}
	case insn.Load:
		if e.Accesses[0].Inexact {
			return nil
		}
		want = []uint64{was[0]}
		n = min(n, e.Accesses[0].Size)
	case insn.AddConst:
		want = []uint64{source + uint64(e.Value)}
	case insn.AddRegister:
		var second uint64
		if e.Second != insn.NoRegister {
			second = general(before, e.Second)
		} else if len(was) > 0 {
			second = was[0]
		}
		want = []uint64{source + second*uint64(e.Scale) + uint64(e.Value)}
	case insn.Choose:
		want = []uint64{old, source}
		if e.Source == insn.NoRegister {
			want[1] = was[0]
		}
	case insn.Extend:
		want = []uint64{source}
		n = int(e.Value)
	}
	if !slices.ContainsFunc(want, func(w uint64) bool { return low(w, n) == low(got, n) }) {
		return fmt.Errorf("%s is %#x, want %#x", names64[e.Dest], got, want)
	}
	return nil
}
