package perfdata

import "stackmill/stages/decode"

// The cpumode values of records from other systems.
const (
	miscHypervisor  = 3
	miscGuestKernel = 4
	miscGuestUser   = 5
)

// The corresponding markers in call chains.
const (
	contextHypervisor  = ^uint64(0) - 31
	contextGuest       = ^uint64(0) - 2047
	contextGuestKernel = ^uint64(0) - 2175
	contextGuestUser   = ^uint64(0) - 2559
)

// foreignSpace is an address space of another system. One bit of its addresses is flipped, which
// makes them non-canonical: no address of the host equals them.
type foreignSpace struct {
	path, reason string
	bit          uint64
}

var (
	guest      = foreignSpace{"[guest]", "PC in a virtual machine, whose load objects are not recorded", 1 << 62}
	hypervisor = foreignSpace{"[hypervisor]", "PC in the hypervisor, whose functions are not recorded", 1 << 61}
)

// spaceOf returns the bit to flip in the addresses of a record with the given misc field; 0 for
// addresses of the host.
func spaceOf(misc uint16) uint64 {
	switch misc & miscMode {
	case miscGuestKernel, miscGuestUser:
		return guest.bit
	case miscHypervisor:
		return hypervisor.bit
	}
	return 0
}

// contextSpace returns the bit to flip in the words after a marker.
func contextSpace(marker uint64) uint64 {
	switch marker {
	case contextGuest, contextGuestKernel, contextGuestUser:
		return guest.bit
	case contextHypervisor:
		return hypervisor.bit
	}
	return 0
}

// half is the mapped part of each half of a foreign address space, in bytes: the range of 5-level
// page tables.
const (
	half      = 1 << 56
	upperHalf = 1<<64 - half
)

// image returns the mappings of the space if a sample of the process was there.
func (f *foreignSpace) image(p *process) []decode.MapEvent {
	if p.spaces&f.bit == 0 {
		return nil
	}
	code := &decode.Code{Reason: f.reason}
	lower := decode.MapEvent{Path: f.path, Address: f.bit, Size: half, Modes: 5, Code: code}
	upper := decode.MapEvent{Path: f.path, Address: upperHalf ^ f.bit, Size: half, FileOffset: upperHalf, Modes: 5, Code: code}
	return []decode.MapEvent{lower, upper}
}
