package increment

import (
	"context"
	"time"

	"stackmill/schema/storedir"
)

// Follow calls update now and whenever the store has changed, until the context ends. If the first update fails, it
// returns the error. Later errors may be temporary: it passes each to warn once, and tries again.
func Follow(ctx context.Context, store string, interval time.Duration, update func(context.Context) error, warn func(error)) error {
	seen, warned, first := "", "", true
	watcher := storedir.NewWatcher(store)
	for ctx.Err() == nil {
		state, err := watcher.State()
		if first || err != nil || state != seen {
			if err == nil || first { // if the store cannot be read at first, update returns a better error
				err = update(ctx)
			}
			switch {
			case ctx.Err() != nil:
				return nil
			case err == nil:
				seen, warned, first = state, "", false
			case first:
				return err
			case err.Error() != warned:
				warned = err.Error()
				warn(err)
			}
		}
		select {
		case <-time.After(interval):
		case <-ctx.Done():
		}
	}
	return nil
}
