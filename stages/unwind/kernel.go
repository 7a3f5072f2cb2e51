package unwind

import "stackmill/schema"

// withoutKernel ends a user stack at the instruction that trapped into the
// kernel or made a system call (S25); those of its
// frames are at the leaf. Time there belongs to that instruction, or to the call if it
// is one of the procedure linkage table's (S22). A stack of nothing else stays.
//
//	before: do_page_fault <- asm_exc_page_fault <- fault_pages <- main
//	after:  fault_pages <- main
func (u *Unwinder) withoutKernel(machine []Frame) []Frame {
	kernel := u.kernel
	if kernel == 0 || kernel == len(machine) {
		return machine
	}
	for place := range kernel {
		u.hiddenBy[place] = schema.RuleTrap
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
