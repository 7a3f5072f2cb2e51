package parquetfile

import "stackmill/schema"

// form is a way to encode the numbers of a row group.
type form uint8

// The forms.
const (
	asTheyAre  form = iota
	tightDelta      // see appendTight
	evenDelta       // see appendEven
)

// formsOf returns the forms to try for a column of this encoding if it has no dictionary.
func formsOf(e schema.Encoding) []form {
	switch e {
	case schema.Delta, schema.DictOrDelta:
		return []form{tightDelta, evenDelta}
	case schema.PlainOrDelta:
		return []form{asTheyAre, tightDelta, evenDelta}
	}
	return []form{asTheyAre}
}

// encoding returns Parquet's encoding of the form.
func (f form) encoding() encoding {
	if f == asTheyAre {
		return plainEncoding
	}
	return deltaEncoding
}

// trialValues is how many values are encoded in each form to find the smallest.
const trialValues = 1 << 12

// smallest returns the form with the least compressed size, judged by the first trialValues values.
func smallest[T number](c *chunk, n *numberColumn[T], forms []form) form {
	if len(forms) == 1 {
		return forms[0]
	}
	all := n.values
	defer func() { n.values = all }()
	n.values = all[:min(len(all), trialValues)]
	best, least := forms[0], 0
	for i, f := range forms {
		if size := c.zstdSize(encode(c, n, f)); i == 0 || size < least {
			best, least = f, size
		}
	}
	return best
}

// room returns c.encoded, emptied, with room for somewhat more than size bytes.
func (s *scratch) room(size int) []byte {
	s.encoded = resize(s.encoded, size+size/8)[:0]
	return s.encoded
}

// encode returns the values in a form. The result is valid until the next call.
func encode[T number](c *chunk, n *numberColumn[T], f form) []byte {
	switch f {
	case tightDelta:
		c.encoded = appendTight(c.room(len(plain(n.values))), n.values)
	case evenDelta:
		c.encoded = appendEven(c.room(len(plain(n.values))), n.values)
	default:
		return plain(n.values)
	}
	return c.encoded
}
