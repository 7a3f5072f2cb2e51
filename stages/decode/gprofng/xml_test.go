package gprofng

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Each tag is written as `name(attributes)text`, each error as `!offset`.
func TestXML(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"elements", `<a x="1" y='2'>text</a><b/>`, []string{"a(x=1 y=2)text", "/a()", "b()"}},
		{"blanks", "\n <a  x = \"1\"\t/>\n", []string{"a(x=1)\n"}},
		{"entities", `<a x="&lt;&gt;&amp;&quot;&apos;&#65;&#x42;&none;&#99999999;& ;"/>`, []string{`a(x=<>&"'AB&none;&#99999999;& ;)`}},
		{"bytes", `<a x="%c3%%a4%&amp;%ff%%0a%"/>`, []string{"a(x=ä&\xff\n)"}},
		{"percent signs", `<a x="100% %41% %00% %c3 %+1% %%7f%%"/>`, []string{"a(x=100% %41% %00% %c3 %+1% %\x7f%)"}},
		{"text with a less sign", "<a>1 < 2 <b/></a>", []string{"a()1 < 2 ", "b()", "/a()"}},
		{"not UTF-8", "<a>\xff</a>", []string{"a()\uFFFD", "/a()"}},
		{"comment", "<!-- <a> --><b/><?xml <a> ?><c/>", []string{"b()", "c()"}},
		{"comment without an end", "<a/><!-- <b/>", []string{"a()", "!13"}},
		{"NULs", "\x00\x00<a\x00\x00x=\"\x001\"/>\x00<b/>\x00", []string{"!7", "b()"}},
		{"NULs between blanks", "<a \x00 x=\"1\"/>\x00\x00\x00<b>\x00", []string{"a(x=1)", "b()", "!18"}},
		{"cut in a name", "<a/><bc", []string{"a()", "!7"}},
		{"cut in an attribute", `<a/><b x`, []string{"a()", "!8"}},
		{"cut in a value", `<a/><b x="1`, []string{"a()", "!11"}},
		{"cut line", "<a x=\"1\n<b y=\"2\"/>\n", []string{"!7", "b(y=2)\n"}},
		{"cut tag", "<a x=\n<b/>", []string{"!6", "b()"}},
		{"no quote", "<a x=1/><b/>", []string{"!5", "b()"}},
		{"slash without end", "<a/ x><b/>", []string{"!3", "b()"}},
		{"not closed", "<a><b></a>", []string{"a()", "b()", "!10", "/a()"}},
		{"never closed", "<a><b/>", []string{"a()", "b()", "!7"}},
		{"never opened", "<a/></b>", []string{"a()", "!8", "/b()"}},
		{"one report per cut", "<a><b =></b></a></c>", []string{"a()", "!6", "/b()", "/a()", "/c()"}},
		{"deep", strings.Repeat("<a>", maxOpen+1), append(slices.Repeat([]string{"a()"}, maxOpen), fmt.Sprintf("!%d", 3*maxOpen+3))},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			x := newXMLReader(strings.NewReader(c.text), func(offset int64, _ string) { got = append(got, fmt.Sprintf("!%d", offset)) })
			for tag, ok := x.next(); ok; tag, ok = x.next() {
				slash := ""
				if tag.closes {
					slash = "/"
				}
				var attrs []string
				for _, a := range tag.attrs {
					attrs = append(attrs, a.name+"="+a.value)
				}
				got = append(got, slash+tag.name+"("+strings.Join(attrs, " ")+")"+tag.text)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestTagOffsets(t *testing.T) {
	x := newXMLReader(strings.NewReader("\x00<a/>\x00\x00<b/>\n<c/>"), func(int64, string) {})
	var got []int64
	for tag, ok := x.next(); ok; tag, ok = x.next() {
		got = append(got, tag.offset)
	}
	if want := []int64{1, 7, 12}; !slices.Equal(got, want) {
		t.Errorf("tags at %d, want %d", got, want)
	}
}

func TestNumbers(t *testing.T) {
	for s, want := range map[string]int64{
		"0": 0, "12": 12, "+12": 12, "-12": -12, "0x1F": 31, "0X1f": 31, "+0x10": 16, " 7 ": 7, "010": 10,
		"": -1, "x": -1, "1x": -1, "0x": -1, "1.5": -1, "9223372036854775808": -1, "--1": -1,
	} {
		got, err := parseInt(s)
		if err != nil {
			got = -1
		}
		if got != want {
			t.Errorf("parseInt(%q) = %d, %v", s, got, err)
		}
	}
	if n, err := parseUnsigned("0xFFFFFFFFFF600000"); err != nil || n != 0xFFFFFFFFFF600000 {
		t.Errorf("%#x, %v", n, err)
	}
}

func TestTimes(t *testing.T) {
	const bad = -1
	for s, want := range map[string]int64{
		"2776.737673946": 2776737673946, "0.000000001": 1, "1": 1e9, "1.": 1e9, "1.5": 15e8, "0.1234567899": 123456789, "-1.5": -15e8,
		"": bad, ".5": bad, "1.x": bad, "1.-5": bad, "9223372036.0": bad, "x": bad,
	} {
		got, err := parseTime(s)
		if err != nil {
			got = bad
		}
		if got != want {
			t.Errorf("parseTime(%q) = %d, %v, want %d", s, got, err, want)
		}
	}
}

func TestNaturalOrder(t *testing.T) {
	want := []string{"_C1.er", "_f1.er", "_f1_f1.er", "_f1_x1.er", "_f002.er", "_f02.er", "_f2.er", "_f2_x1.er", "_f10.er", "_f18446744073709551617.er", "_x1.er"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, naturalCompare)
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
