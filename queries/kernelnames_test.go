package queries

import (
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Numbers have the names that the kernel's headers give them.
func TestKernelNames(t *testing.T) {
	named := func(list string, first int) map[int]string {
		names := map[int]string{}
		for _, r := range nameRuns(list, first) {
			for i, name := range r.names {
				names[r.first+i] = name
			}
		}
		return names
	}
	for arch, want := range map[string]map[int]string{
		"x86_64":  {0: "read", 59: "execve", 131: "sigaltstack", 202: "futex", 262: "newfstatat", 334: "rseq", 335: "uretprobe", 337: "", 424: "pidfd_send_signal", 435: "clone3", 450: "set_mempolicy_home_node", 462: "mseal"},
		"i386":    {0: "restart_syscall", 3: "read", 11: "execve", 240: "futex", 295: "openat", 386: "rseq", 403: "clock_gettime64", 435: "clone3", 462: "mseal"},
		"aarch64": {0: "io_setup", 56: "openat", 63: "read", 98: "futex", 221: "execve", 293: "rseq", 424: "pidfd_send_signal", 435: "clone3", 462: "mseal"},
	} {
		names := named(syscallNames[arch], 0)
		for number, name := range want {
			if names[number] != name {
				t.Errorf("%s: %d is %q, want %q", arch, number, names[number], name)
			}
		}
	}
	errors := named(errorNames, 1)
	for n := range 134 {
		want := unix.ErrnoName(syscall.Errno(n))
		switch n {
		case 95, 117: // the package prefers other names
			want = map[int]string{95: "EOPNOTSUPP", 117: "EUCLEAN"}[n]
		}
		if errors[n] != want {
			t.Errorf("error %d is %q, want %q", n, errors[n], want)
		}
	}
	if errors[512] != "ERESTARTSYS" || errors[516] != "ERESTART_RESTARTBLOCK" {
		t.Error("errors of the kernel's own:", errors)
	}
}
