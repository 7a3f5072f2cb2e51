package symtab

import (
	"slices"

	"stackmill/stages/loadobject/elf"
)

// The values in `.eh_frame_hdr` as linkers write it: all numbers have 4 bytes, and those in the
// table are relative to the header.
const (
	frameVersion    = 1
	encodedData4    = 0x03 // DW_EH_PE_udata4
	encodedPointer4 = 0x1b // DW_EH_PE_pcrel | sdata4
	encodedTable4   = 0x3b // DW_EH_PE_datarel | sdata4
	frameHead       = 12   // version, three encodings, address of .eh_frame, count
)

// frameStarts returns the starts of functions according to the search table of `.eh_frame`, as
// sorted offsets in the file. It returns nil if there is no table of the usual form.
func frameStarts(f *elf.File, addresses Addresses) []uint64 {
	b := f.Slice(f.EHFrameHeader.Offset, f.EHFrameHeader.FileSize)
	if len(b) < frameHead || b[0] != frameVersion || b[1] != encodedPointer4 || b[2] != encodedData4 || b[3] != encodedTable4 {
		return nil
	}
	count := min(uint64(f.Order.Uint32(b[8:])), uint64(len(b)-frameHead)/8)
	starts := make([]uint64, 0, count)
	for i := range count {
		relative := int32(f.Order.Uint32(b[frameHead+8*i:]))
		if off, ok := addresses.Offset(f.EHFrameHeader.Address + uint64(int64(relative))); ok {
			starts = append(starts, off)
		}
	}
	slices.Sort(starts)
	return starts
}
