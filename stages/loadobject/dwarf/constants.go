package dwarf

// The tags that are used (DWARF 5 section 7.5.3, and GNU's).
const (
	tagArrayType         = 0x01
	tagClassType         = 0x02
	tagEntryPoint        = 0x03
	tagEnumerationType   = 0x04
	tagFormalParameter   = 0x05
	tagImported          = 0x08
	tagLexicalBlock      = 0x0b
	tagMember            = 0x0d
	tagPointerType       = 0x0f
	tagReferenceType     = 0x10
	tagCompileUnit       = 0x11
	tagStringType        = 0x12
	tagStructureType     = 0x13
	tagSubroutineType    = 0x15
	tagTypedef           = 0x16
	tagUnionType         = 0x17
	tagVariant           = 0x19
	tagCommonBlock       = 0x1a
	tagInheritance       = 0x1c
	tagInlinedSubroutine = 0x1d
	tagModule            = 0x1e
	tagMemberPointer     = 0x1f
	tagSetType           = 0x20
	tagSubrangeType      = 0x21
	tagBaseType          = 0x24
	tagCatchBlock        = 0x25
	tagConstType         = 0x26
	tagFileType          = 0x29
	tagPackedType        = 0x2d
	tagSubprogram        = 0x2e
	tagTryBlock          = 0x32
	tagVariantPart       = 0x33
	tagVariable          = 0x34
	tagVolatileType      = 0x35
	tagRestrictType      = 0x37
	tagInterfaceType     = 0x38
	tagNamespace         = 0x39
	tagUnspecifiedType   = 0x3b
	tagPartialUnit       = 0x3c
	tagSharedType        = 0x40
	tagTypeUnit          = 0x41
	tagRvalueType        = 0x42
	tagTemplateAlias     = 0x43
	tagAtomicType        = 0x47
	tagCallSite          = 0x48
	tagSkeletonUnit      = 0x4a
	tagImmutableType     = 0x4b
	tagGNUCallSite       = 0x4109
)

// The attributes that are used (DWARF 5 section 7.5.4, MIPS' and GNU's).
const (
	attrSibling         = 0x01
	attrLocation        = 0x02
	attrName            = 0x03
	attrByteSize        = 0x0b
	attrBitOffset       = 0x0c
	attrBitSize         = 0x0d
	attrStmtList        = 0x10
	attrLowPC           = 0x11
	attrHighPC          = 0x12
	attrLanguage        = 0x13
	attrCompDir         = 0x1b
	attrInline          = 0x20
	attrLowerBound      = 0x22
	attrUpperBound      = 0x2f
	attrOrigin          = 0x31
	attrCount           = 0x37
	attrMemberAt        = 0x38
	attrDeclaration     = 0x3c
	attrEncoding        = 0x3e
	attrExternal        = 0x3f
	attrFrameBase       = 0x40
	attrSpecification   = 0x47
	attrType            = 0x49
	attrVirtuality      = 0x4c
	attrDataLocation    = 0x50
	attrRanges          = 0x55
	attrCallFile        = 0x58
	attrCallLine        = 0x59
	attrSignature       = 0x69
	attrDataBit         = 0x6b
	attrLinkageName     = 0x6e
	attrStrOffsetsBase  = 0x72
	attrAddrBase        = 0x73
	attrRnglistsBase    = 0x74
	attrDwoName         = 0x76
	attrLoclistsBase    = 0x8c
	attrMIPSLinkageName = 0x2007
	attrGNUDwoName      = 0x2130
	attrGNUDwoID        = 0x2131
	attrGNURangesBase   = 0x2132
	attrGNUAddrBase     = 0x2133
)
