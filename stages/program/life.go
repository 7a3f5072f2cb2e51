package program

// Life is from when until when something means the same, in ns from the founder's start.
type Life struct{ From, Until int64 }

// And returns for how long two things mean the same.
func (l Life) And(other Life) Life {
	return Life{max(l.From, other.From), min(l.Until, other.Until)}
}

// Has reports whether it means that at time t.
func (l Life) Has(t int64) bool { return l.From <= t && t < l.Until }
