package ordered

// Future is a result that a goroutine is computing.
type Future[T any] struct {
	done  chan struct{}
	value T
	err   error
}

// Start starts to compute a result. Calling Wait is optional.
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

// Done is closed when the result is ready.
func (f *Future[T]) Done() <-chan struct{} { return f.done }

// Wait waits for the result. A panic becomes its error.
func (f *Future[T]) Wait() (T, error) {
	<-f.done
	return f.value, f.err
}
