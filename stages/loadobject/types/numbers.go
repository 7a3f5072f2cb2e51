package types

// Indexes of a Table's lists.
type (
	TypeNo     int32 // 0 is void, or unknown
	MemberNo   int32
	VariableNo int32
	ScopeNo    int32 // 0 is outside of functions
	UnitNo     int32 // 0 if unknown
)

// None is the index that means no element, for lists whose index 0 is an element.
const None = -1
