package perfdata

import (
	"slices"

	"stackmill/stages/decode"
)

// setLeaf makes the sampled address the leaf of a stack (S21, perf-data 6.2). A precise event has
// the address of the instruction that caused it, while the chain begins where the interrupt
// arrived: mostly at the next instruction, but also in another function, or on the other side of
// the border between user and kernel. With `--user-callchains`, the chain lacks the kernel's
// leaf.
func (r *stackReader) setLeaf(s *sample, raw *decode.RawStack, in chainContext) {
	switch {
	case len(raw.Words) == 0:
		r.append(raw, s.ip, in)
	case raw.Words[0] == s.ip, !r.hasLeaf(s), in.space != 0: // other systems have no chains
	case in.kernel && raw.Kernel == 0:
		raw.Words, raw.Kernel = slices.Insert(raw.Words, 0, s.ip), 1
	case !in.kernel && raw.Kernel == len(raw.Words):
		raw.Words, raw.Kernel = append(raw.Words[:0], s.ip), 0
	case !in.kernel: // the kernel ran after the event
		raw.Words, raw.Kernel = slices.Delete(raw.Words, 0, raw.Kernel), 0
		raw.Words[0] = s.ip
	default:
		raw.Words[0] = s.ip
	}
}

// hasLeaf reports whether a sample has an address that can be a leaf.
func (p *recordParser) hasLeaf(s *sample) bool {
	return p.events[s.event].sampleType&sampleIP != 0 && s.ip != 0 && s.ip < contextMax
}
