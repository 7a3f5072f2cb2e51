package dwarf

import debugdwarf "debug/dwarf"

// Tags and attributes of MIPS and GNU, which debug/dwarf does not name.
const (
	TagGNUFormalParameterPack debugdwarf.Tag = 0x4107
	TagGNUCallSite            debugdwarf.Tag = 0x4109

	AttrMIPSLinkageName  debugdwarf.Attr = 0x2007
	attrGNUDwoName       debugdwarf.Attr = 0x2130
	attrGNUDwoID         debugdwarf.Attr = 0x2131
	attrGNURangesBase    debugdwarf.Attr = 0x2132
	attrGNUAddrBase      debugdwarf.Attr = 0x2133
	AttrGNUDiscriminator debugdwarf.Attr = 0x2136
)
