package ordered

// Turn makes a goroutine wait for its turn, where several goroutines act in a given order.
type Turn struct {
	come chan struct{}
	next chan struct{} // nil for the last turn
}

// NewTurns returns n turns, in the order in which they come. The first one comes at once.
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

// End waits until the turn has come, and ends it. It reports whether it was the last one.
func (t Turn) End() (last bool) {
	<-t.come
	if t.next != nil {
		close(t.next)
	}
	return t.next == nil
}
