package symbolize

import (
	"fmt"

	"stackmill/internal/memo"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/insn/disasm"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
)

// setTarget sets the target of a call or jump, and the name of the function to which it leads. The
// function may be in another load object, reached through the procedure linkage table or the global
// offset table. Jumps within a function get no name.
func (d *Disassembler) setTarget(i *Instruction, f *program.Function, inst *insn.Inst) {
	t := d.r.loadObjects[f.Object].table
	if inst.HasSlot && t != nil {
		if slot, ok := t.Slot(inst.Slot); ok {
			i.TargetName = d.slotName(f.Object, t, slot)
		}
	}
	if !inst.HasTarget {
		return
	}
	if inside := inst.Target - f.Address; inside < f.Size {
		i.Target, i.HasTarget = f.Offset+inside, true
		if inst.Kind == insn.Call && inside == 0 {
			i.TargetName = f.Name
		}
		return
	}
	if t == nil {
		return
	}
	if i.Target, i.HasTarget = d.r.addresses(f.Object).Offset(inst.Target); !i.HasTarget {
		return
	}
	g, ok := t.Function(i.Target)
	if !ok {
		return
	}
	if g.Kind == funcinfo.PLT {
		i.TargetName = d.stubName(f.Object, t, i.Target, inst.Target)
	}
	if i.TargetName == "" {
		i.TargetName = g.Name
		if i.Target > g.Offset {
			i.TargetName += fmt.Sprintf("+%#x", i.Target-g.Offset)
		}
	}
}

// stubName returns the name of an entry of a procedure linkage table: its function's, as in
// objdump's output (`puts@plt`). The name is empty if the entry does not show the function.
func (d *Disassembler) stubName(object program.ObjectNo, t *symtab.Table, offset, address uint64) string {
	return memo.Get(d.stubs, entry{object, offset}, func() (name string) {
		code, arch := d.code.Bytes(object, offset, maxStub)
		if at, ok := disasm.StubSlot(arch, code, address); ok {
			if slot, ok := t.Slot(at); ok {
				name = d.slotName(object, t, slot)
			}
			if name != "" {
				name += "@plt"
			}
		}
		return name
	})
}

// slotName returns the symbol of the function whose address a slot holds, or of its IFUNC resolver;
// empty if there is none.
func (d *Disassembler) slotName(object program.ObjectNo, t *symtab.Table, slot symtab.Slot) string {
	if slot.Symbol != "" {
		return d.readable(slot.Symbol)
	}
	if offset, ok := d.r.addresses(object).Offset(slot.Resolver); ok {
		if f, ok := t.Function(offset); ok && f.Kind != funcinfo.Static && f.Offset == offset {
			return f.Name
		}
	}
	return ""
}
