package duckfile

import (
	"encoding/binary"
	"io"
)

// Write writes a file of the template, with these texts in its holes, and tables.
func (t *Template) Write(w io.Writer, texts map[string]string, tables []*Table) error {
	entries, err := t.filled(texts)
	if err != nil {
		return err
	}
	var b blocks
	groups := make([][]group, len(tables))
	for i, table := range tables {
		groups[i] = table.place(&b)
	}
	data := &pieces{block: len(b.list)}
	at := make([]int, len(tables))
	for i, table := range tables {
		at[i] = table.describe(data, groups[i])
	}
	catalog := data.next()
	catalog.field(entryList)
	catalog.unsigned(t.entries + 1 + uint64(len(tables)))
	catalog.raw(schemaEntry()...)
	for i, table := range tables {
		pointer, offset := data.pointer(at[i])
		table.entry(&catalog.object, pointer, offset)
	}
	catalog.bytes = append(catalog.bytes, entries...)
	catalog.close(1)
	free := catalog.next()
	free.free(&b)
	h := header{Iteration: 1, Catalog: catalog.first(), Free: free.first(), Blocks: uint64(b.pieces(data, catalog, free)), Fixed: t.fixed}
	return t.write(w, &b, h)
}

// write writes headers and blocks.
func (t *Template) write(w io.Writer, b *blocks, h header) error {
	head := make([]byte, headersSize)
	copy(head, t.header)
	older := header{Catalog: none, Free: none, Fixed: t.fixed}
	for i, h := range []header{older, h} {
		at := head[(i+1)*headerSize:][:headerSize]
		if _, err := binary.Encode(at[checkSize:], binary.LittleEndian, h); err != nil {
			return err
		}
		seal(at)
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	for _, block := range b.list {
		seal(block)
		if _, err := w.Write(block); err != nil {
			return err
		}
	}
	return nil
}

// blocks are the blocks of a file.
type blocks struct {
	list     [][]byte
	used     int      // of the last block's content
	segments []uint32 // how many lie in each block of values
}

func (b *blocks) add() []byte {
	b.list = append(b.list, make([]byte, blockSize))
	return b.list[len(b.list)-1]
}

// reserve returns the place of a segment, and where that is.
func (b *blocks) reserve(size int) (place []byte, block int64, offset int) {
	b.used = (b.used + 7) &^ 7
	if len(b.list) == 0 || b.used+size > blockUse {
		b.add()
		b.used, b.segments = 0, append(b.segments, 0)
	}
	last := len(b.list) - 1
	offset = b.used
	b.used += size
	b.segments[last]++
	return b.list[last][checkSize+offset:][:size], int64(last), offset
}

// pieces adds the blocks of chains of pieces, one after the other, and returns how many
// blocks there are.
func (b *blocks) pieces(chains ...*pieces) int {
	before := len(b.list)
	for _, chain := range chains {
		for i := range chain.count() {
			n := chain.from + i
			if before+n/inBlock == len(b.list) {
				b.add()
			}
			at := b.list[before+n/inBlock][checkSize+n%inBlock*pieceSize:][:pieceSize]
			next := none
			if i+1 < chain.count() {
				next, _ = chain.pointer((i + 1) * pieceUse)
			}
			binary.LittleEndian.PutUint64(at, next)
			copy(at[pointerSize:], chain.bytes[i*pieceUse:])
		}
	}
	return len(b.list)
}

// pieces is a chain of pieces of metadata.
type pieces struct {
	object
	block int // the first block of all chains
	from  int // the chain's first piece, counted from there
}

// count is how many pieces the chain has.
func (p *pieces) count() int { return (len(p.bytes) + pieceUse - 1) / pieceUse }

// next returns the chain behind a complete one.
func (p *pieces) next() *pieces { return &pieces{block: p.block, from: p.from + p.count()} }

// pointer returns where the byte of a number is: its piece, and the offset there.
func (p *pieces) pointer(at int) (piece uint64, offset int) {
	n := p.from + at/pieceUse
	return uint64(p.block+n/inBlock) | uint64(n%inBlock)<<56, pointerSize + at%pieceUse
}

// first returns the pointer to the chain.
func (p *pieces) first() uint64 {
	piece, _ := p.pointer(0)
	return piece
}

// free completes the last chain, which says what the engine may write over: no block, and the
// pieces that no chain has. It also says of how many segments a block has values.
func (p *pieces) free(b *blocks) {
	number := func(n uint64) { p.bytes = binary.LittleEndian.AppendUint64(p.bytes, n) }
	number(0) // free blocks
	shared := 0
	for _, n := range b.segments {
		if n > 1 {
			shared++
		}
	}
	number(uint64(shared))
	for i, n := range b.segments {
		if n > 1 {
			number(uint64(i))
			p.bytes = binary.LittleEndian.AppendUint32(p.bytes, n)
		}
	}
	const ofBlock = 16 // bytes
	blocksOf := func(size int) int { return (p.from + (size+pieceUse-1)/pieceUse + inBlock - 1) / inBlock }
	n := blocksOf(len(p.bytes) + 8)
	for blocksOf(len(p.bytes)+8+n*ofBlock) > n {
		n++
	}
	number(uint64(n))
	used := p.from + (len(p.bytes)+n*ofBlock+pieceUse-1)/pieceUse
	for i := range n {
		number(uint64(p.block + i))
		number(^uint64(0) << min(used-i*inBlock, inBlock))
	}
}
