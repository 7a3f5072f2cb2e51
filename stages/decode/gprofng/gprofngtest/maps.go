package gprofngtest

import (
	"fmt"

	"stackmill/stages/decode"
)

// Map adds a line to map.xml as it is given.
func (e *Experiment) Map(format string, args ...any) {
	fmt.Fprintf(&e.maps, format+"\n", args...)
}

// Segment maps a file (gprofng-experiment 2.6). modes is a sum of 1 (read), 2 (write), 4 (execute)
// and 8 (shared).
func (e *Experiment) Segment(time int64, address, size, fileOffset uint64, modes int, path string) {
	modes, checksum := e.Form.Modes(modes)
	e.Map(`<event kind="map" object="segment" tstamp="%s" vaddr="0x%016X" size="%d" pagesz="%d" foffset="+0x%08X" modes="0x%03X" chksum="%s" name="%s"/>`,
		stamp(time), address, size, e.PageSize, fileOffset, modes, checksum, escape.Replace(path))
}

// Unmap ends the mapping that starts at address.
func (e *Experiment) Unmap(time int64, address uint64) {
	e.Map(`<event kind="unmap" tstamp="%s" vaddr="0x%016X"/>`, stamp(time), address)
}

// DynamicFunction announces a function inside a region of generated code. The next call of Function
// maps the region.
func (e *Experiment) DynamicFunction(region, name string, address, size uint64) {
	e.Map(`<event kind="map" object="dynfunc" name="%s" vaddr="0x%016X" size="%d" funcname="%s" />`, escape.Replace(region), address, size, escape.Replace(name))
}

// Function maps a region of generated code.
func (e *Experiment) Function(time int64, address, size uint64, name string) {
	e.Map(`<event kind="map" object="function" tstamp="%s" vaddr="0x%016X" size="%d" name="%s" />`, stamp(time), address, size, escape.Replace(name))
}

// CompiledMethod maps the compiled code of a Java method.
func (e *Experiment) CompiledMethod(time int64, address, size, method uint64) {
	e.Map(`<event kind="map" object="jcm" tstamp="%s" vaddr="0x%016X" size="%d" methodId="0x%x" />`, stamp(time), address, size, method)
}

// Code describes, in dyntext (gprofng-experiment 3.6), the generated code that is mapped at address
// at that time. It omits empty parts.
func (e *Experiment) Code(time int64, address uint64, code []byte, source string, lines []decode.CodeLine) {
	o := e.order()
	record := func(typ uint32, content []byte) {
		e.dyntext = o.AppendUint32(e.dyntext, typ)
		e.dyntext = o.AppendUint32(e.dyntext, uint32(8+len(content)))
		e.dyntext = append(e.dyntext, content...)
	}
	record(1, o.AppendUint64(o.AppendUint64(nil, uint64(time)), address))
	if len(code) > 0 {
		record(2, code)
	}
	if source != "" {
		record(4, append([]byte(source), make([]byte, 8-len(source)%8)...))
	}
	if len(lines) > 0 {
		var b []byte
		for _, l := range lines {
			b = o.AppendUint32(o.AppendUint32(b, l.Offset), uint32(l.Line))
		}
		record(3, b)
	}
}
