package types

import (
	"fmt"
	"strings"
)

// PartName returns the path from a variable of a type to the part at an offset, as in C:
// `[2].queue.lock`. It ends at unions, whose members share their bytes, and leaves out base classes,
// unnamed members and members with reserved names (`_M_mutex`), which libraries do not document.
func (t *Table) PartName(typ TypeNo, offset int64) string {
	name := ""
	for range maxSteps {
		typ = t.Strip(typ)
		x := &t.Types[typ]
		m := MemberNo(None)
		switch {
		case x.Kind == Array && offset >= 0:
			if size := t.Types[t.Strip(x.Elem)].Size; size > 0 {
				name += fmt.Sprintf("[%d]", offset/size)
				typ, offset = x.Elem, offset%size
				continue
			}
		case x.Kind == Structure, x.Kind == Class:
			m = t.memberAt(x, offset)
		}
		if m == None {
			break
		}
		if member := &t.Members[m]; !member.Base && member.Name != "" && !strings.HasPrefix(member.Name, "_") {
			name += "." + member.Name
		}
		typ, offset = t.Members[m].Type, offset-t.Members[m].Offset
	}
	if offset != 0 {
		name += fmt.Sprintf("+%#x", offset)
	}
	return name
}

// memberAt returns the first member of an aggregate that contains the byte at offset, None if no
// member does.
func (t *Table) memberAt(x *Type, offset int64) MemberNo {
	for m := x.First; m < x.End(); m++ {
		if low, high := t.extent(&t.Members[m]); low <= offset && offset < high {
			return m
		}
	}
	return None
}
