package unwind

import "stackmill/schema"

// withoutKernel drops the kernel's frames at the leaf. The leaf of a user stack is the instruction
// that trapped or made a system call (S25) or, if that is in the procedure linkage table, its
// caller (S22). A stack that consists of kernel frames only is kept.
//
//	before: do_page_fault <- asm_exc_page_fault <- fault_pages <- main
//	after:  fault_pages <- main
func (u *Unwinder) withoutKernel(machine []Frame) []Frame {
	kernel := u.kernelFrames
	if kernel == 0 || kernel == len(machine) {
		return machine
	}
	for i := range kernel {
		u.hiddenBy[i] = schema.RuleTrap
	}
	user := machine[kernel:]
	if u.isStub(user) {
		u.hiddenBy[kernel] = schema.RulePLT
		user = user[1:]
	}
	u.user = append(u.user[:0], user...)
	user = u.user
	if user[0].Rule == schema.NoRule {
		user[0].Rule = schema.RuleTrap
	}
	return user
}
