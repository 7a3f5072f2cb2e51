package insn

import "bytes"

// trampolines are the instructions with which the C libraries and the kernel's
// vdso return from a signal handler: the system call sigreturn or rt_sigreturn.
var trampolines = [...][][]byte{
	AMD64: {
		{0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05},         // mov $15, %rax; syscall
		{0x48, 0xc7, 0xc0, 0x01, 0x02, 0, 0x40, 0x0f, 0x05}, // mov $0x40000201, %rax; syscall (x32)
		{0xb8, 15, 0, 0, 0, 0x0f, 0x05},                     // mov $15, %eax; syscall
	},
	X86: {
		{0x58, 0xb8, 119, 0, 0, 0, 0xcd, 0x80}, // pop %eax; mov $119, %eax; int $0x80
		{0xb8, 173, 0, 0, 0, 0xcd, 0x80},       // mov $173, %eax; int $0x80
	},
	ARM64: {
		{0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4}, // mov x8, #139; svc #0
	},
}

// IsSignalReturn reports whether code starts with the trampoline that signal
// handlers return to, `__restore_rt`, whatever it is called (S24).
func IsSignalReturn(arch Arch, code []byte) bool {
	if arch > ARM64 {
		return false
	}
	for _, t := range trampolines[arch] {
		if bytes.HasPrefix(code, t) {
			return true
		}
	}
	return false
}
