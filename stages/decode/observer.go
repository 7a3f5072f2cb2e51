package decode

import "context"

// MappingObserver receives the mappings of a process while the decoder opens the recording: some
// may come again, and more may follow until it is open. One goroutine at a time calls it, and it
// does not block. The recording's Host, OS, Kernel and Locate are final by then.
type MappingObserver func(rec *Recording, image []MapEvent)

type observerKey struct{}

// WithMappingObserver returns a context for opening a recording with an observer.
func WithMappingObserver(ctx context.Context, early MappingObserver) context.Context {
	return context.WithValue(ctx, observerKey{}, early)
}

// MappingObserverOf returns the context's observer.
func MappingObserverOf(ctx context.Context) MappingObserver {
	if early, ok := ctx.Value(observerKey{}).(MappingObserver); ok {
		return early
	}
	return func(*Recording, []MapEvent) {}
}
