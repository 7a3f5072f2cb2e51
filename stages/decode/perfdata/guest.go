package perfdata

import "stackmill/stages/decode"

// The modes of records of other systems than the recording's own.
const (
	miscHypervisor  = 3
	miscGuestKernel = 4
	miscGuestUser   = 5
)

// The words in call chains that say the same.
const (
	contextHypervisor  = ^uint64(0) - 31
	contextGuest       = ^uint64(0) - 2047
	contextGuestKernel = ^uint64(0) - 2175
	contextGuestUser   = ^uint64(0) - 2559
)

// foreign is an address space apart from the process's. A bit of its addresses is
// flipped, so that they become addresses that no processor uses, and none is taken for
// one of the host.
type foreign struct {
	path, reason string
	bit          uint64
}

var (
	guest      = foreign{"[guest]", "PC in a virtual machine, whose load objects are not recorded", 1 << 62}
	hypervisor = foreign{"[hypervisor]", "PC in the hypervisor, whose functions are not recorded", 1 << 61}
)

// spaceOf is the bit flipped in addresses of a record's mode.
func spaceOf(misc uint16) uint64 {
	switch misc & miscMode {
	case miscGuestKernel, miscGuestUser:
		return guest.bit
	case miscHypervisor:
		return hypervisor.bit
	}
	return 0
}

// contextSpace is the same for the words after a marker in a call chain.
func contextSpace(marker uint64) uint64 {
	switch marker {
	case contextGuest, contextGuestKernel, contextGuestUser:
		return guest.bit
	case contextHypervisor:
		return hypervisor.bit
	}
	return 0
}

// half is the mapped part of each half of a foreign address space, in bytes: what
// processors with five levels of tables can use.
const (
	half      = 1 << 56
	upperHalf = 1<<64 - half
)

// image returns the mappings of the space if any sample of a process was there.
func (f *foreign) image(p *process) []decode.MapEvent {
	if p.spaces&f.bit == 0 {
		return nil
	}
	code := &decode.Code{Reason: f.reason}
	lower := decode.MapEvent{Path: f.path, Address: f.bit, Size: half, Modes: 5, Code: code}
	upper := decode.MapEvent{Path: f.path, Address: upperHalf ^ f.bit, Size: half, FileOffset: upperHalf, Modes: 5, Code: code}
	return []decode.MapEvent{lower, upper}
}
