package program

// Life is the time in which an address or stack keeps its meaning, in ns from the founder's start.
type Life struct{ From, Until int64 }

// Intersect returns the time that is in both lives.
func (l Life) Intersect(other Life) Life {
	return Life{max(l.From, other.From), min(l.Until, other.Until)}
}

// Contains reports whether time t is in the life.
func (l Life) Contains(t int64) bool { return l.From <= t && t < l.Until }
