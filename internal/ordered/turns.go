package ordered

// Turn is the turn of one of several goroutines that act one after the other.
type Turn struct {
	come chan struct{}
	next chan struct{} // nil: it is the last one
}

// NewTurns returns n turns. The first one has come.
func NewTurns(n int) []Turn {
	turns := make([]Turn, n)
	var next chan struct{}
	for i := n - 1; i >= 0; i-- {
		turns[i] = Turn{make(chan struct{}), next}
		next = turns[i].come
	}
	if next != nil {
		close(next)
	}
	return turns
}

// Come is closed when all turns before are over.
func (t Turn) Come() <-chan struct{} { return t.come }

// End ends the turn, once it has come. It reports whether it was the last one.
func (t Turn) End() (last bool) {
	<-t.come
	if t.next != nil {
		close(t.next)
	}
	return t.next == nil
}
