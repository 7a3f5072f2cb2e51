package spill

import "encoding/binary"

// Stream is a list of numbers that is read once, in order. Small numbers take a byte.
type Stream struct {
	space  *Space
	chunks []streamChunk
	memory int64  // bytes of chunks in memory
	last   []byte // the chunk being appended to

	read, next int    // number of chunks read, and bytes read of the current one
	chunk      []byte // the current one
}

// streamChunk is a part of a stream, in memory or in the space.
type streamChunk struct {
	bytes []byte // nil if it is in the space
	at    int64  // its offset in the space
	n     int
}

// streamBytes is the approximate size of a chunk.
const streamBytes = 1 << 16

// NewStream returns an empty stream.
func NewStream(s *Space) *Stream { return &Stream{space: s} }

// Append appends numbers.
func (s *Stream) Append(values []int64) error {
	if s.last == nil {
		s.last = make([]byte, 0, streamBytes+binary.MaxVarintLen64)
	}
	last := s.last
	for _, v := range values {
		if last = binary.AppendVarint(last, v); len(last) < streamBytes {
			continue
		}
		s.last = last
		if err := s.endChunk(); err != nil {
			return err
		}
		last = s.last
	}
	s.last = last
	return nil
}

// endChunk ends the chunk and begins a new one.
func (s *Stream) endChunk() error {
	p := streamChunk{bytes: s.last, n: len(s.last)}
	if s.memory += int64(p.n); s.memory <= s.space.Memory {
		s.chunks, s.last = append(s.chunks, p), make([]byte, 0, streamBytes+binary.MaxVarintLen64)
		return nil
	}
	at, err := s.space.Append(s.last)
	s.chunks, s.last = append(s.chunks, streamChunk{at: at, n: p.n}), s.last[:0]
	return err
}

// Read fills to with the next numbers; elements after the last number stay unchanged. Append must
// not be called after Read.
func (s *Stream) Read(to []int64) error {
	for i := range to {
		if s.next == len(s.chunk) {
			if err := s.advance(); err != nil || len(s.chunk) == 0 {
				return err
			}
		}
		v, n := binary.Varint(s.chunk[s.next:])
		to[i] = v
		s.next += n
	}
	return nil
}

// advance goes on to the next chunk; after the last one, to an empty one.
func (s *Stream) advance() error {
	s.next = 0
	if s.read == len(s.chunks) {
		s.chunk, s.last = s.last, nil
		return nil
	}
	p := &s.chunks[s.read]
	s.read++
	if p.bytes != nil {
		s.chunk, p.bytes = p.bytes, nil
		return nil
	}
	if cap(s.chunk) < p.n {
		s.chunk = make([]byte, p.n)
	}
	s.chunk = s.chunk[:p.n]
	return s.space.ReadAt(s.chunk, p.at)
}
