package perfdata

import "math/bits"

// sample is a parsed SAMPLE record (perf-data 6). Slices point into the record.
type sample struct {
	event      int32
	pid, tid   int32
	cpu        int32
	ip, addr   uint64
	time       uint64
	period     uint64
	weight     uint64
	dataSource uint64
	physical   uint64
	cgroup     uint64
	chain      []byte // words, 8 bytes each
	values     []byte // the values of counters (READ)
	raw        []byte // the tracepoint's fields (RAW)
	branches   []byte // entries of the branch stack, newest first
	abi        uint64 // ABI of regs
	regs       []byte // user registers, nil if there are none
	stack      []byte // the valid part of the user stack
	stackCut   bool   // the stack may continue after the dump
	left       int    // bytes after the last field
	latencies  bool   // the sample has more latencies than weight
	exact      bool   // ip is the instruction that caused the event (EXACT_IP)
}

// when returns a sample's time, 0 if it has none.
func (s *sample) when() uint64 {
	if s.time == noTime {
		return 0
	}
	return s.time
}

// noTime is the time of a sample or record that has none.
const noTime = ^uint64(0)

// unavailable is the DATA_SRC of an event without memory data.
const unavailable = 0x1e05080021

// eventOf returns the index of a sample's event, -1 for an unknown id. All attrs of a file agree on
// the position of the id in samples (perf-data 7).
func (p *recordParser) eventOf(body []byte) int32 {
	if len(p.events) == 1 {
		return 0
	}
	if len(p.events) == 0 {
		return -1
	}
	t := p.events[0].sampleType
	at := 0
	switch {
	case t&sampleIdentifier != 0:
	case t&sampleID != 0:
		at = 8 * bits.OnesCount64(t&(sampleIP|sampleTID|sampleTime|sampleAddr))
	default:
		return 0
	}
	if at+8 > len(body) {
		return -1
	}
	c := cursorOf(body[at:], p.big)
	id := c.U64()
	if e, ok := p.byID[id]; ok {
		return e
	}
	if id == 0 {
		return 0
	}
	return -1
}

// readSample parses a SAMPLE record; false if it ends too early.
func (p *recordParser) readSample(misc uint16, body []byte, s *sample) bool {
	*s = sample{event: p.eventOf(body), pid: -1, tid: -1, cpu: -1, time: noTime, exact: misc&miscExact != 0}
	if s.event < 0 {
		return false
	}
	a := &p.events[s.event].attr
	s.period = a.period
	c := cursorOf(body, p.big)
	s.readEvent(&c, a.sampleType)
	if a.sampleType&stackFields != 0 {
		s.readStack(&c, a)
	}
	if a.sampleType&lastFields != 0 {
		s.readLast(&c, a)
	}
	s.left = len(c.Rest)
	if s.raw != nil && p.events[s.event].isOffCPU() {
		return !c.Short && s.readOffCPU(p.big)
	}
	return !c.Short
}

// readEvent reads the first fields: when and where the sample was taken.
func (s *sample) readEvent(c *cursor, t uint64) {
	if t&sampleIdentifier != 0 {
		c.U64()
	}
	if t&sampleIP != 0 {
		s.ip = c.U64()
	}
	if t&sampleTID != 0 {
		s.pid, s.tid = c.s32(), c.s32()
	}
	if t&sampleTime != 0 {
		s.time = c.U64()
	}
	if t&sampleAddr != 0 {
		s.addr = c.U64()
	}
	if t&sampleID != 0 {
		c.U64()
	}
	if t&sampleStreamID != 0 {
		c.U64()
	}
	if t&sampleCPU != 0 {
		s.cpu = c.s32()
		c.U32()
	}
	if t&samplePeriod != 0 {
		s.period = c.U64()
	}
}

// stackFields are the fields that readStack reads.
const stackFields = sampleRead | sampleCallchain | sampleRaw | sampleBranchStack | sampleRegsUser | sampleStackUser

// readStack reads the next fields: the values of counters, and the stack.
func (s *sample) readStack(c *cursor, a *attr) {
	t := a.sampleType
	if t&sampleRead != 0 {
		s.values = c.Rest
		c.skipRead(a.readFormat)
	}
	if t&sampleCallchain != 0 {
		s.chain = c.list(8)
	}
	if t&sampleRaw != 0 {
		s.raw = c.Bytes(uint64(c.U32()))
	}
	if t&sampleBranchStack != 0 {
		s.branches = c.branches(a.branchType)
	}
	if t&sampleRegsUser != 0 {
		s.abi, s.regs = c.registers(a.regsUser)
	}
	if t&sampleStackUser != 0 {
		s.stack, s.stackCut = c.stack()
	}
}

// lastFields are the fields that readLast reads.
const lastFields = sampleWeight | sampleWeightStruct | sampleDataSrc | sampleTransaction | sampleRegsIntr | samplePhysAddr |
	sampleCgroup | sampleDataPageSize | sampleCodePageSize | sampleAux

// readLast reads the last fields: those of memory accesses, and unused ones.
func (s *sample) readLast(c *cursor, a *attr) {
	t := a.sampleType
	if t&(sampleWeight|sampleWeightStruct) != 0 {
		if s.weight = c.U64(); t&sampleWeightStruct != 0 {
			s.latencies = s.weight>>32 != 0
			s.weight &= 1<<32 - 1
		}
	}
	if t&sampleDataSrc != 0 {
		s.dataSource = c.U64()
	}
	if t&sampleTransaction != 0 {
		c.U64()
	}
	if t&sampleRegsIntr != 0 {
		c.registers(a.regsIntr)
	}
	if t&samplePhysAddr != 0 {
		s.physical = c.U64()
	}
	if t&sampleCgroup != 0 {
		s.cgroup = c.U64()
	}
	c.Bytes(8 * uint64(bits.OnesCount64(t&(sampleDataPageSize|sampleCodePageSize))))
	if t&sampleAux != 0 {
		c.Bytes(c.U64())
	}
}

// list reads a list that begins with its number of entries, each of size bytes, and returns the
// entries.
func (c *cursor) list(size uint64) []byte {
	n := c.U64()
	if n > uint64(len(c.Rest))/size {
		c.Rest, c.Short = nil, true
		return nil
	}
	return c.Bytes(n * size)
}

// skipRead skips the counters' values (perf-data 6.1).
func (c *cursor) skipRead(format uint64) {
	times := uint64(bits.OnesCount64(format & (readEnabled | readRunning)))
	each := 1 + uint64(bits.OnesCount64(format&(readID|readLost)))
	n := uint64(1)
	if format&readGroup != 0 {
		n = c.U64()
	}
	if n > uint64(len(c.Rest)) {
		c.Rest, c.Short = nil, true
		return
	}
	c.Bytes(8 * (times + n*each))
}

// registers reads the registers in a mask. It returns their ABI and values; nil if there are none.
func (c *cursor) registers(mask uint64) (abi uint64, values []byte) {
	if abi = c.U64(); abi == 0 {
		return 0, nil
	}
	return abi, c.Bytes(8 * uint64(bits.OnesCount64(mask)))
}

// stack returns the valid part of the dumped user stack. full says that this is the whole dump, so
// that the stack may continue after it.
func (c *cursor) stack() (valid []byte, full bool) {
	size := c.U64()
	if size == 0 {
		return nil, false
	}
	dump := c.Bytes(size)
	n := min(c.U64(), uint64(len(dump)))
	return dump[:n], n == uint64(len(dump))
}
