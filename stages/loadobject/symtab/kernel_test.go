package symtab

import (
	"slices"
	"testing"
)

// All names of an address are aliases, separated as in tables of ELF files.
func TestKernelAliases(t *testing.T) {
	table := ReadKernel([]byte("ffffffff81000000 t do_poll.part.0\nffffffff81000000 t do_compat_poll.part.0\nffffffff81000100 T next\n")).Finish()
	if got := Split(table.Functions.At(0).Aliases); !slices.Equal(got, []string{"do_compat_poll.part.0", "do_poll.part.0"}) {
		t.Errorf("%q", got)
	}
}
