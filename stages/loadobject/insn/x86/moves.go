package x86

// moves has a letter for each opcode, by opcode map and mandatory prefix. The maps are 0F, 0F38 and
// 0F3A (numbers 1 to 3), the same for VEX, EVEX and legacy encoding; EVEX's further maps (5, 6); and
// XOP's (8 to 10). The letter describes the memory operand: it is lower case for a load, upper case
// for a store.
//
//	x  a vector of integers or bytes
//	v  a vector of float (W=0) or double (W=1)
//	g  a vector of half precision
//	i  a vector of words
//	h  half of a vector
//	j  half of a vector; with EVEX and W=1, a whole one
//	k  a quarter of a vector
//	e  an eighth of a vector
//	c  a vector, or only those of its elements that a mask selects
//	a  a double if vectors have 16 bytes, otherwise a vector
//	p  8 bytes of a vector
//	o  16 bytes of a vector
//	y  32 bytes of a vector
//	t  a number of half precision
//	s  a float
//	r  a double
//	f  a float (W=0) or double (W=1); for vmaskmovpd, a vector
//	b  an integer of 1 byte
//	w  an integer of 2 bytes
//	d  an integer of 4 bytes
//	q  an integer of 8 bytes
//	m  an integer of 4 (W=0) or 8 bytes (W=1)
//	u  like m, but read and written
//	n  a mask: 1 to 8 bytes, by the prefix and W
//	z  an operand of unknown size
//
// With EVEX.b, the operand is a single element instead of a vector. With EVEX, a displacement of one
// byte is multiplied by the operand's size.
var moves = newMoves([]moveRow{
	{1, ppNone, 0x00, "...............p"},
	{1, ppNone, 0x10, "vVpPvvpP........"},
	{1, ppNone, 0x20, "........vVpVppss"},
	{1, ppNone, 0x50, ".vvvvvvvvvhxvvvv"},
	{1, ppNone, 0x60, "dddxxxxxxxxx..mx"},
	{1, ppNone, 0x70, "x...xxx.vv....MX"},
	{1, ppNone, 0x90, "nN.............."},
	{1, ppNone, 0xa0, "..............d."},
	{1, ppNone, 0xc0, "..v.w.v........."},
	{1, ppNone, 0xd0, ".xxxxx..xxxxxxxx"},
	{1, ppNone, 0xe0, "xxxxxx.Xxxxxxxxx"},
	{1, ppNone, 0xf0, ".xxxxxx.xxxxxxx."},
	{1, pp66, 0x10, "vVrRvvrR..oO...."},
	{1, pp66, 0x20, "........vVpVvvrr"},
	{1, pp66, 0x50, ".v..vvvvvvvvvvvv"},
	{1, pp66, 0x60, "xxxxxxxxxxxxxxmx"},
	{1, pp66, 0x70, "xxxxxxx.jjjjvvMX"},
	{1, pp66, 0x90, "nN.............."},
	{1, pp66, 0xc0, "..v.w.v........."},
	{1, pp66, 0xd0, "voooxxQ.xxxxxxxx"},
	{1, pp66, 0xe0, "xooxxxvXxxxxxxxx"},
	{1, pp66, 0xf0, ".oooxxx.xxxxxxx."},
	{1, ppF3, 0x10, "sSv...v........."},
	{1, ppF3, 0x20, "..........mSss.."},
	{1, ppF3, 0x50, ".sss....sssvssss"},
	{1, ppF3, 0x60, "...............x"},
	{1, ppF3, 0x70, "x.......ssjm..qX"},
	{1, ppF3, 0xc0, "..s............."},
	{1, ppF3, 0xe0, "......j........."},
	{1, ppF2, 0x10, "rRa............."},
	{1, ppF2, 0x20, "..........mRrr.."},
	{1, ppF2, 0x50, ".r......rrr.rrrr"},
	{1, ppF2, 0x60, "...............x"},
	{1, ppF2, 0x70, "x.......rrxmvv.X"},
	{1, ppF2, 0xc0, "..r............."},
	{1, ppF2, 0xd0, "v..............."},
	{1, ppF2, 0xe0, "......v........."},
	{1, ppF2, 0xf0, "x..............."},
	{2, ppNone, 0x00, "xxxxxxxxxxxx...."},
	{2, ppNone, 0x10, "............xxx."},
	{2, ppNone, 0x40, ".........z......"},
	{2, ppNone, 0x50, "xx.............."},
	{2, ppNone, 0xb0, "v..............."},
	{2, ppNone, 0xc0, "........oooooo.."},
	{2, ppNone, 0xf0, "..mm.m.m........"},
	{2, pp66, 0x00, "xxxxxxxxxxxxxxvv"},
	{2, pp66, 0x10, "xxxhvvvxsroyxxxx"},
	{2, pp66, 0x20, "hkehkhxxxxxxvfVV"},
	{2, pp66, 0x30, "hkehkhxxxxxxxxxx"},
	{2, pp66, 0x40, "xxvfxxxx.Z.zvfvf"},
	{2, pp66, 0x50, "xxxxxx..dqoy...."},
	{2, pp66, 0x60, "..cCxvx........."},
	{2, pp66, 0x70, "xxxx.xxvbw...xxv"},
	{2, pp66, 0x80, "...x....ccCCxxXx"},
	{2, pp66, 0x90, "mmff..vvvfvfvfvf"},
	{2, pp66, 0xa0, "MMFF..vvvfvfvfvf"},
	{2, pp66, 0xb0, "vt..xxvvvfvfvfvf"},
	{2, pp66, 0xc0, "....x...v.vfvf.x"},
	{2, pp66, 0xd0, "...........xxxxx"},
	{2, pp66, 0xe0, "uuuuuuuuuuuuuuuu"},
	{2, pp66, 0xf0, ".......m........"},
	{2, ppF3, 0x10, "HKEHKH.........."},
	{2, ppF3, 0x20, "HKEHKHxx........"},
	{2, ppF3, 0x30, "HKEHKH.........."},
	{2, ppF3, 0x40, "...........Z...."},
	{2, ppF3, 0x50, "xxv............."},
	{2, ppF3, 0x70, "..v............."},
	{2, ppF3, 0xb0, "vt.............."},
	{2, ppF3, 0xf0, ".....m.m........"},
	{2, ppF2, 0x40, "...........z...."},
	{2, ppF2, 0x50, "xxoo............"},
	{2, ppF2, 0x60, "........x......."},
	{2, ppF2, 0x70, "..v............."},
	{2, ppF2, 0x90, "..........oo...."},
	{2, ppF2, 0xa0, "..........oo...."},
	{2, ppF2, 0xb0, "v..............."},
	{2, ppF2, 0xf0, ".....mmm........"},
	{3, ppNone, 0x00, "........g.t....x"},
	{3, ppNone, 0x20, "......gt........"},
	{3, ppNone, 0x40, "..x............."},
	{3, ppNone, 0x50, "......gt........"},
	{3, ppNone, 0x60, "......gt........"},
	{3, ppNone, 0x70, "x.x............."},
	{3, ppNone, 0xc0, "..g.........o..."},
	{3, pp66, 0x00, "xvxxvvx.vvsrvvxx"},
	{3, pp66, 0x10, "....BWMSoOyY.Hxx"},
	{3, pp66, 0x20, "bsmv.xvf........"},
	{3, pp66, 0x30, "........oOyY..xx"},
	{3, pp66, 0x40, "vvxxx.x.xxvvx..."},
	{3, pp66, 0x50, "vf..vfvf....vvvv"},
	{3, pp66, 0x60, "xxxx..vfvvsrvvsr"},
	{3, pp66, 0x70, "xxxx....vvsrvvsr"},
	{3, pp66, 0xc0, "..............xx"},
	{3, pp66, 0xd0, "...............x"},
	{3, ppF3, 0xc0, "..t............."},
	{3, ppF2, 0xf0, "m..............."},
	{5, ppNone, 0x10, ".............s.."},
	{5, ppNone, 0x20, "..............tt"},
	{5, ppNone, 0x50, ".g......ggkxgggg"},
	{5, ppNone, 0x70, "........hh..gg.."},
	{5, pp66, 0x10, ".............v.."},
	{5, pp66, 0x50, "..........vh...."},
	{5, pp66, 0x60, "..............w."},
	{5, pp66, 0x70, "........kkkkggW."},
	{5, ppF3, 0x10, "tT.............."},
	{5, ppF3, 0x20, "..........m.tt.."},
	{5, ppF3, 0x50, ".t......ttthtttt"},
	{5, ppF3, 0x70, "........tt.m.i.."},
	{5, ppF2, 0x50, "..........r....."},
	{5, ppF2, 0x70, "..........x..i.."},
	{6, ppNone, 0x10, "...t............"},
	{6, pp66, 0x10, "...h............"},
	{6, pp66, 0x20, "............gt.."},
	{6, pp66, 0x40, "..gt........gtgt"},
	{6, pp66, 0x90, "......gggtgtgtgt"},
	{6, pp66, 0xa0, "......gggtgtgtgt"},
	{6, pp66, 0xb0, "......gggtgtgtgt"},
	{6, ppF3, 0x50, "......vf........"},
	{6, ppF3, 0xd0, "......vf........"},
	{6, ppF2, 0x50, "......vf........"},
	{6, ppF2, 0xd0, "......vf........"},
	{8, ppNone, 0x80, ".....ooo......oo"},
	{8, ppNone, 0x90, ".....ooo......oo"},
	{8, ppNone, 0xa0, "..xo..o........."},
	{8, ppNone, 0xb0, "......o........."},
	{8, ppNone, 0xc0, "oooo........oooo"},
	{8, ppNone, 0xe0, "............oooo"},
	{9, ppNone, 0x00, ".mm............."},
	{9, ppNone, 0x80, "vvsr............"},
	{9, ppNone, 0x90, "oooooooooooo...."},
	{9, ppNone, 0xc0, ".ooo..oo...o...."},
	{9, ppNone, 0xd0, ".ooo..oo...o...."},
	{9, ppNone, 0xe0, ".ooo............"},
	{10, ppNone, 0x10, "m.d............."},
})

// moveRow has the letters of consecutive opcodes, at most 16, from opcode on.
type moveRow struct {
	number, pp, opcode byte
	letters            string
}

func newMoves(rows []moveRow) *[11][4][256]byte {
	m := new([11][4][256]byte)
	for n := range m {
		for pp := range m[n] {
			for op := range m[n][pp] {
				m[n][pp][op] = verbNone
			}
		}
	}
	for _, r := range rows {
		copy(m[r.number][r.pp][r.opcode:], r.letters)
	}
	return m
}
