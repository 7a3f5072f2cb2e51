package types

// The numbers of a Table's parts: their indexes in its lists.
type (
	TypeNo   int32 // 0 is void, or unknown
	MemberNo int32
)

// None is the number of no member.
const None = -1
