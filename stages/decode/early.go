package decode

import "context"

// Early is told, while a recording is being opened, what a process has mapped: the same
// may be told again, and more is known at the end. It is called by one goroutine at a
// time, and does not wait. The recording's Host, OS, Kernel and Locate are final.
type Early func(rec *Recording, image []MapEvent)

type earlyKey struct{}

// WithEarly returns a context for opening a recording, of which early is told.
func WithEarly(ctx context.Context, early Early) context.Context {
	return context.WithValue(ctx, earlyKey{}, early)
}

// EarlyOf returns who is told by the context.
func EarlyOf(ctx context.Context) Early {
	if early, ok := ctx.Value(earlyKey{}).(Early); ok {
		return early
	}
	return func(*Recording, []MapEvent) {}
}
