package perfdata

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/decode"
)

const kernelText = 0xffffffff81000000

// imageOf lists a process's mappings.
func imageOf(p *decode.Process) (list []string) {
	for _, m := range p.Mappings {
		s := fmt.Sprintf("%d %#x+%#x @%#x %s", m.Time, m.Address, m.Size, m.FileOffset, m.Path)
		if m.Unmap {
			s = fmt.Sprintf("%d end %#x", m.Time, m.Address)
		}
		if m.Code != nil {
			s += " code"
		}
		list = append(list, s)
	}
	return list
}

// A process has a kernel module or generated kernel code as a mapping if one of its stacks contains
// an address there. The kernel's own mapping shows how far the kernel was moved.
func TestKernelMaps(t *testing.T) {
	const module, bpf, again = kernelText + 0x40000000, kernelText + 0x41000000, kernelText + 0x42000000
	const kernel = ^uint64(0) - 127
	b := &builder{order: binary.LittleEndian}
	kernelMap := func(addr uint64, size int, offset uint64, name string) {
		b.record(recordMmap, miscKernel, ^uint32(0), uint32(0), addr, size, offset, name, ^uint32(0), uint32(0), 0)
	}
	ksymbol := func(time int, addr uint64, flags uint16, name string) {
		b.record(recordKsymbol, 0, addr, uint32(0x100), uint16(1), flags, name, uint32(1), uint32(1), time)
	}
	kernelMap(kernelText+0x1000000, 0x800000, kernelText+0x1000000, "[kernel.kallsyms]_text")
	kernelMap(module, 0x4000, 0, "/lib/modules/6.1/fs/ext4.ko")
	kernelMap(module+0x4000, 0x4000, 0, "[next]")
	kernelMap(kernelText, 0x1000, 0, "[guest.kernel.kallsyms]_text")
	b.record(recordMmap, miscGuestUser, uint32(1), uint32(1), 0x4000, 0x1000, 0, "/guest/bin/p", uint32(1), uint32(1), 0)
	b.mmap(1, 0, 0x4000, "/bin/p")
	ksymbol(0, bpf, 0, "bpf_prog_1234_one")
	ksymbol(2000, bpf, ksymbolGone, "bpf_prog_1234_one")
	ksymbol(2500, bpf, 0, "bpf_prog_5678_two")
	ksymbol(0, again, 0, "bpf_prog_9abc_unused")
	b.sample(1, 1000, kernel, uint64(bpf+0x10), uint64(module+0x4000), user, 0x4010) // the return address is right after ext4
	b.sample(2, 3000, kernel, uint64(kernelText+0x10), user, 0x5010)
	rec := open(t, b)
	if want := (decode.KernelSymbol{Name: "_text", Address: kernelText + 0x1000000, Start: kernelText + 0x1000000, End: kernelText + 0x1800000, From: kernelStart}); rec.Kernel != want {
		t.Errorf("%+v", rec.Kernel)
	}
	self := "0 0xffff800000000000+0x7ffffffff000 @0xffff800000000000 [kernel.kallsyms]"
	want := []string{"0 0x4000+0x1000 @0x0 /bin/p", self,
		"0 0xffffffffc1000000+0x4000 @0x0 /lib/modules/6.1/fs/ext4.ko", "0 0xffffffffc1004000+0x4000 @0x0 [next]",
		"0 0xffffffffc2000000+0x100 @0x0 bpf_prog_1234_one code", "1000 end 0xffffffffc2000000", "1500 0xffffffffc2000000+0x100 @0x0 bpf_prog_5678_two code"}
	if d := cmp.Diff(want, imageOf(rec.Processes[0])); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{self}, imageOf(rec.Processes[1])); d != "" {
		t.Error(d)
	}
}

// Executable memory without a file has generated code, whatever its name is.
func TestAnonymousCode(t *testing.T) {
	b := &builder{order: binary.LittleEndian}
	for i, name := range []string{"//anon", "/memfd:doublemapper (deleted)", "/dev/zero (deleted)", "/SYSV00000000", "[heap]", "[stack]", "[anon:code]", "/tmp/unlinked (deleted)", "/bin/p", "/dev/hugepages/x"} {
		flags := uint32(0)
		if name == "/dev/hugepages/x" {
			flags = mapHugeTLB
		}
		b.record(recordMmap2, miscUser, uint32(1), uint32(1), 0x10000*(i+1), 0x1000, 0, 0, 0, 0, uint32(5), flags, name, uint32(1), uint32(1), 0)
	}
	b.sample(1, 1000, user, 0x10010)
	for _, m := range open(t, b).Processes[0].Mappings {
		if anonymous := m.Path == decode.PerfMap(1) && m.FileOffset == m.Address; anonymous == (m.Path == "/bin/p") {
			t.Errorf("%#x: %s at %#x", m.Address, m.Path, m.FileOffset)
		}
	}
}

// Addresses of a virtual machine or hypervisor are not resolved with the host's mappings.
func TestForeignSpaces(t *testing.T) {
	rec := open(t, foreignRecording())
	p := rec.Processes[0]
	var got []string
	for _, s := range p.Stacks.Expanded() {
		got = append(got, fmt.Sprintf("%#x %d", s.Words, s.Kernel))
	}
	want := []string{"[0x4000000000004010] 0", "[0xbfffffff81000000] 0", "[0xdfffffff81000000] 0", "[0xffffffff81000008 0x4000000000004020 0x4030] 1"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	want = []string{"0 0x4000+0x1000 @0x0 /bin/p", "0 0xffff800000000000+0x7ffffffff000 @0xffff800000000000 [kernel.kallsyms]",
		"0 0x4000000000000000+0x100000000000000 @0x0 [guest] code", "0 0xbf00000000000000+0x100000000000000 @0xff00000000000000 [guest] code",
		"0 0x2000000000000000+0x100000000000000 @0x0 [hypervisor] code", "0 0xdf00000000000000+0x100000000000000 @0xff00000000000000 [hypervisor] code"}
	if d := cmp.Diff(want, imageOf(p)); d != "" {
		t.Error(d)
	}
}

func foreignRecording() *builder {
	const guestUser, kernel = ^uint64(0) - 2559, ^uint64(0) - 127
	b := &builder{order: binary.LittleEndian}
	b.mmap(1, 0, 0x4000, "/bin/p")
	b.record(recordSample, miscGuestUser, 0x4010, uint32(1), uint32(1), 1000, 0)
	b.record(recordSample, miscGuestKernel, uint64(kernelText), uint32(1), uint32(1), 1100, 0)
	b.record(recordSample, miscHypervisor, uint64(kernelText), uint32(1), uint32(1), 1200, 0)
	b.sample(1, 1300, kernel, uint64(kernelText+8), guestUser, 0x4020, user, 0x4030)
	return b
}

// The build-id that perf records for a path belongs to the last file that had the path. A deleted
// file with a build-id does not count as generated code.
func TestFilesOfOnePath(t *testing.T) {
	b := &builder{order: binary.LittleEndian}
	note := func(name string) {
		b.record(recordBuildID, miscUser, ^uint32(0), uint32(0x11111111), 0x2222222222222222, 0x3333333333333333, uint32(0), name)
	}
	file := func(time, addr, inode int, name string) {
		b.record(recordMmap2, miscUser, uint32(1), uint32(1), addr, 0x1000, 0, uint32(8), uint32(1), inode, 77, uint32(5), uint32(2), name, uint32(1), uint32(1), time)
	}
	file(100, 0x4000, 5, "/bin/p")
	file(200, 0x6000, 6, "/bin/p")
	file(300, 0x8000, 7, "/lib/q (deleted)")
	note("/bin/p")
	note("/lib/q (deleted)")
	b.sample(1, 1000, user, 0x4010)
	var got []string
	for _, m := range open(t, b).Processes[0].Mappings {
		got = append(got, fmt.Sprintf("%#x %s %d %d %d %v", m.Address, m.Path, m.File.Device, m.File.Inode, m.File.Generation, m.BuildID != ""))
	}
	want := []string{"0x4000 /bin/p 34359738369 5 77 false", "0x6000 /bin/p 34359738369 6 77 true", "0x8000 /lib/q (deleted) 34359738369 7 77 true"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// On architectures without a fixed border, the kernel begins above all mappings of programs, except
// the pages at the end of memory.
func TestKernelFrom(t *testing.T) {
	const kernel = ^uint64(0) - 127
	for _, c := range []struct {
		arch            string
		from            uint64
		inheritance, to uint64 // start of the programs' page at the end of memory; end of the kernel
		bits            int
	}{
		{"armv7l", 0x80000000, 0xffff0000, kernelEnd32, 32}, {"i686", 0xc0000000, 0xffff0000, kernelEnd32, 32}, {"", 0xc0000000, 0xffff0000, kernelEnd32, 64},
		{"ppc64le", 0xc000000000000000, 0xffffffffff600000, kernelEnd, 64}, {"", kernelText, 0xffffffffff600000, kernelEnd, 64},
		{"riscv64", 0xffffffff80000000, 0xffffffffff600000, kernelEnd, 64},
	} {
		t.Run(fmt.Sprintf("%s %#x", c.arch, c.from), func(t *testing.T) {
			module, library := c.from-0x1000000, c.from>>1
			b := &builder{order: binary.LittleEndian}
			if c.arch != "" {
				b.feature(featureArch, c.arch+"\x00")
			}
			b.record(recordMmap, miscKernel, ^uint32(0), uint32(0), 0, -1, 0, "[kernel.kallsyms]_text", ^uint32(0), uint32(0), 0)
			b.record(recordMmap, miscKernel, ^uint32(0), uint32(0), module, 0x4000, 0, "[ext4]", ^uint32(0), uint32(0), 0)
			b.record(recordMmap, miscUser, uint32(1), uint32(1), library, 0x1000, 0, "/lib/libc.so", uint32(1), uint32(1), 0)
			b.record(recordMmap, miscUser, uint32(1), uint32(1), c.inheritance, 0x1000, 0, "[vectors]", uint32(1), uint32(1), 0)
			b.sample(1, 1000, kernel, c.from+0x8010, module+0x20, user, library+0x10, c.inheritance+0xfc0)
			rec := open(t, b)
			if rec.WordBits != c.bits || rec.Kernel.From != min(module, kernelStart) {
				t.Errorf("%d bits, the kernel begins at %#x", rec.WordBits, rec.Kernel.From)
			}
			want := []string{fmt.Sprintf("0 %#x+0x1000 @0x0 /lib/libc.so", library), fmt.Sprintf("0 %#x+0x1000 @0x0 [vectors]", c.inheritance),
				fmt.Sprintf("0 %#x+%#x @%#x [kernel.kallsyms]", rec.Kernel.From, c.to-rec.Kernel.From, rec.Kernel.From), fmt.Sprintf("0 %#x+0x4000 @0x0 [ext4]", module)}
			if d := cmp.Diff(want, imageOf(rec.Processes[0])); d != "" {
				t.Error(d)
			}
		})
	}
}
