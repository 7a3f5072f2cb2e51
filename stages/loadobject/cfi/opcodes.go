package cfi

// Call frame instructions (DW_CFA, DWARF 5 section 7.24, and vendors' extensions).
// The first three have an operand in their lower six bits.
const (
	cfaPrimary    = 0xc0 // mask; 0 there: an extended opcode
	cfaAdvanceLoc = 0x40
	cfaOffset     = 0x80
	cfaRestore    = 0xc0

	cfaNop                        = 0x00
	cfaSetLoc                     = 0x01
	cfaAdvanceLoc1                = 0x02
	cfaAdvanceLoc2                = 0x03
	cfaAdvanceLoc4                = 0x04
	cfaOffsetExtended             = 0x05
	cfaRestoreExtended            = 0x06
	cfaUndefined                  = 0x07
	cfaSameValue                  = 0x08
	cfaRegister                   = 0x09
	cfaRememberState              = 0x0a
	cfaRestoreState               = 0x0b
	cfaDefCFA                     = 0x0c
	cfaDefCFARegister             = 0x0d
	cfaDefCFAOffset               = 0x0e
	cfaDefCFAExpression           = 0x0f
	cfaExpression                 = 0x10
	cfaOffsetExtendedSF           = 0x11
	cfaDefCFASF                   = 0x12
	cfaDefCFAOffsetSF             = 0x13
	cfaValOffset                  = 0x14
	cfaValOffsetSF                = 0x15
	cfaValExpression              = 0x16
	cfaMIPSAdvanceLoc8            = 0x1d
	cfaAArch64NegateRAStateWithPC = 0x2c
	cfaAArch64NegateRAState       = 0x2d
	cfaGNUArgsSize                = 0x2e
	cfaGNUNegativeOffsetExtended  = 0x2f
)

// definesRegister marks the instructions that set the rule of a register, their first operand.
var definesRegister = [256]bool{
	cfaOffsetExtended: true, cfaOffsetExtendedSF: true, cfaGNUNegativeOffsetExtended: true,
	cfaValOffset: true, cfaValOffsetSF: true,
	cfaRestoreExtended: true, cfaUndefined: true, cfaSameValue: true, cfaRegister: true,
	cfaExpression: true, cfaValExpression: true,
}
