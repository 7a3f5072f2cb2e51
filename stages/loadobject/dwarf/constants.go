package dwarf

// The tags that are used (DWARF 5 section 7.5.3, and GNU's).
const (
	TagArrayType         = 0x01
	TagClassType         = 0x02
	TagEntryPoint        = 0x03
	TagEnumerationType   = 0x04
	TagFormalParameter   = 0x05
	tagImported          = 0x08
	TagLexicalBlock      = 0x0b
	TagMember            = 0x0d
	TagPointerType       = 0x0f
	TagReferenceType     = 0x10
	tagCompileUnit       = 0x11
	TagStringType        = 0x12
	TagStructureType     = 0x13
	TagSubroutineType    = 0x15
	TagTypedef           = 0x16
	TagUnionType         = 0x17
	TagVariant           = 0x19
	TagCommonBlock       = 0x1a
	TagInheritance       = 0x1c
	TagInlinedSubroutine = 0x1d
	TagModule            = 0x1e
	TagMemberPointer     = 0x1f
	TagSetType           = 0x20
	TagSubrangeType      = 0x21
	TagBaseType          = 0x24
	TagCatchBlock        = 0x25
	TagConstType         = 0x26
	TagFileType          = 0x29
	TagPackedType        = 0x2d
	TagSubprogram        = 0x2e
	TagTryBlock          = 0x32
	TagVariantPart       = 0x33
	TagVariable          = 0x34
	TagVolatileType      = 0x35
	TagRestrictType      = 0x37
	TagInterfaceType     = 0x38
	TagNamespace         = 0x39
	TagUnspecifiedType   = 0x3b
	tagPartialUnit       = 0x3c
	TagSharedType        = 0x40
	tagTypeUnit          = 0x41
	TagRvalueType        = 0x42
	TagTemplateAlias     = 0x43
	TagAtomicType        = 0x47
	TagCallSite          = 0x48
	tagSkeletonUnit      = 0x4a
	TagImmutableType     = 0x4b
	TagGNUCallSite       = 0x4109
)

// The attributes that are used (DWARF 5 section 7.5.4, MIPS' and GNU's).
const (
	AttrSibling         = 0x01
	AttrLocation        = 0x02
	AttrName            = 0x03
	AttrByteSize        = 0x0b
	AttrBitOffset       = 0x0c
	AttrBitSize         = 0x0d
	AttrStmtList        = 0x10
	AttrLowPC           = 0x11
	AttrHighPC          = 0x12
	AttrLanguage        = 0x13
	AttrCompDir         = 0x1b
	AttrInline          = 0x20
	AttrLowerBound      = 0x22
	AttrUpperBound      = 0x2f
	AttrOrigin          = 0x31
	AttrCount           = 0x37
	AttrMemberAt        = 0x38
	AttrDeclaration     = 0x3c
	AttrEncoding        = 0x3e
	AttrExternal        = 0x3f
	AttrFrameBase       = 0x40
	AttrSpecification   = 0x47
	AttrType            = 0x49
	AttrVirtuality      = 0x4c
	AttrDataLocation    = 0x50
	AttrRanges          = 0x55
	AttrCallFile        = 0x58
	AttrCallLine        = 0x59
	AttrSignature       = 0x69
	AttrDataBit         = 0x6b
	AttrLinkageName     = 0x6e
	AttrStrOffsetsBase  = 0x72
	attrAddrBase        = 0x73
	attrRnglistsBase    = 0x74
	attrDwoName         = 0x76
	attrLoclistsBase    = 0x8c
	AttrMIPSLinkageName = 0x2007
	attrGNUDwoName      = 0x2130
	attrGNUDwoID        = 0x2131
	attrGNURangesBase   = 0x2132
	attrGNUAddrBase     = 0x2133
)
