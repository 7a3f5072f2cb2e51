package insn

// arm64 makes the effect of an A64 word. Any general register may be written.
func (e *Effect) arm64() { e.Written = 1<<32 - 1 }
