#!/usr/bin/env python3
"""Splits the executable segment of a program in two that follow each other, as
some linkers make them: the PT_NOTE header becomes the second's."""
import struct
import sys

path, at = sys.argv[1], int(sys.argv[2], 0)  # the offset where the second begins
data = bytearray(open(path, "rb").read())
phoff, = struct.unpack_from("<Q", data, 32)
count, = struct.unpack_from("<H", data, 56)
headers = [list(struct.unpack_from("<IIQQQQQQ", data, phoff + 56 * i)) for i in range(count)]
text = next(h for h in headers if h[0] == 1 and h[1] & 1)
note = next(h for h in headers if h[0] == 4)
cut = at - text[2]
note[:] = [1, text[1], at, text[3] + cut, text[4] + cut, text[5] - cut, text[6] - cut, text[7]]
text[5] = text[6] = cut
loads = sorted((h for h in headers if h[0] == 1), key=lambda h: h[3])
order = iter(loads)
place = next(i for i, h in enumerate(headers) if h[0] == 1)
others = [h for h in headers if h[0] != 1]
headers = others[:place] + loads + others[place:]
for i, h in enumerate(headers):
    struct.pack_into("<IIQQQQQQ", data, phoff + 56 * i, *h)
open(path, "wb").write(data)
