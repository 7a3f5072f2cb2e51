package ordered

// Future is a result that a goroutine computes.
type Future[T any] struct {
	done  chan struct{}
	value T
	err   error
}

// Start begins to compute a result. Nobody needs to wait for it.
func Start[T any](compute func() (T, error)) *Future[T] {
	f := &Future[T]{done: make(chan struct{})}
	go func() {
		defer close(f.done)
		f.err = Guard(func() (err error) {
			f.value, err = compute()
			return err
		})
	}()
	return f
}

// Done is closed once there is a result.
func (f *Future[T]) Done() <-chan struct{} { return f.done }

// Wait returns the result. A panic is its error.
func (f *Future[T]) Wait() (T, error) {
	<-f.done
	return f.value, f.err
}
