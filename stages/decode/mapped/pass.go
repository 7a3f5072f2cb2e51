package mapped

import (
	"golang.org/x/sys/unix"

	"stackmill/stages/relay"
)

// pieceSize is how much of a file a goroutine has in memory while it is passed.
const pieceSize = 4 << 20

// Pass calls f with the parts of the data, which have so many bytes but for the last, in
// order and piece by piece, in a Guard; first says that a part begins. Different parts may
// be passed at the same time, by so many workers, each with results of its own, which go to
// done in the order of the parts. The pages of a piece are mapped all at once, which takes a
// third of the time of faults on one after the other, and do not count as this process's
// memory any more once it was passed.
func Pass[T any](m *File, workers, part int, f func(piece []byte, first bool, to *T), done func(*T)) error {
	return m.Guard(func() {
		if len(m.Data) == 0 {
			return
		}
		_ = unix.Madvise(m.Data, unix.MADV_SEQUENTIAL) // like all of it, advice
		parts := (len(m.Data) + part - 1) / part
		relay.Each(workers, parts, func(_, n int, to *T) {
			rest := m.Data[n*part : min((n+1)*part, len(m.Data))]
			for first := true; len(rest) > 0; first = false {
				piece := rest[:min(len(rest), pieceSize)]
				rest = rest[len(piece):]
				_ = unix.Madvise(piece, unix.MADV_POPULATE_READ)
				f(piece, first, to)
				_ = unix.Madvise(piece, unix.MADV_DONTNEED)
			}
		}, func(result *T) bool {
			done(result)
			return true
		})
	})
}
