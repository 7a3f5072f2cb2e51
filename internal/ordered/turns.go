package ordered

// Turn is one goroutine's turn, of several goroutines that act one after the other.
type Turn struct {
	come chan struct{}
	next chan struct{} // nil for the last turn
}

// NewTurns returns n turns. The first one comes at once.
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

// Come is closed when all earlier turns have ended.
func (t Turn) Come() <-chan struct{} { return t.come }

// End ends the turn, once it has come. It reports whether it was the last one.
func (t Turn) End() (last bool) {
	<-t.come
	if t.next != nil {
		close(t.next)
	}
	return t.next == nil
}
