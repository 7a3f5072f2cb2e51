package arm64

import (
	"encoding/binary"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/arch/arm64/arm64asm"
)

// decodeMutex guards arm64asm.Decode, which writes to a global variable.
var decodeMutex sync.Mutex

// Text disassembles code, which is exactly one instruction, in the syntax of the GNU tools.
func Text(code []byte, addr uint64) string {
	decodeMutex.Lock()
	inst, err := arm64asm.Decode(code)
	decodeMutex.Unlock()
	if err != nil {
		return fmt.Sprintf(".inst %#08x", binary.LittleEndian.Uint32(code))
	}
	text := strings.TrimSpace(arm64asm.GNUSyntax(inst))
	for _, arg := range inst.Args {
		if r, ok := arg.(arm64asm.PCRel); ok {
			from := addr
			if inst.Op == arm64asm.ADRP {
				from &^= 0xfff
			}
			text = strings.Replace(text, r.String(), fmt.Sprintf("%#x", from+uint64(r)), 1)
		}
	}
	return text
}

// Relative reports whether an instruction's text depends on its address, as for adr, adrp and loads
// of literals. Branches do not count.
func Relative(code []byte) bool {
	w := binary.LittleEndian.Uint32(code)
	return w&0x1f000000 == 0x10000000 || w&0x3b000000 == 0x18000000
}
