package symtab

import (
	"fmt"
	"strings"

	"stackmill/internal/lazyregexp"
)

// adaOperators maps the names of operators in symbols to the operators.
var adaOperators = map[string]string{
	"Oabs": "abs", "Oand": "and", "Omod": "mod", "Onot": "not", "Oor": "or", "Orem": "rem", "Oxor": "xor", "Oeq": "=", "One": "/=", "Olt": "<",
	"Ole": "<=", "Ogt": ">", "Oge": ">=", "Oadd": "+", "Osubtract": "-", "Oconcat": "&", "Omultiply": "*", "Odivide": "/", "Oexpon": "**",
}

// adaSpecial maps suffixes of the symbols that GNAT generates for packages and types to their text.
var adaSpecial = map[string]string{
	"___elabb": "'Elab_Body", "___elabs": "'Elab_Spec", "___size": "'Size", "___alignment": "'Alignment", "___assign": `.":="`,
	"SR": "'Read", "SW": "'Write", "SI": "'Input", "SO": "'Output", "DF": ".Finalize", "DA": ".Adjust", "P": "", "N": "",
}

// AdaName decodes a GNAT symbol as `c++filt -s gnat` does; false for other symbols. It qualifies the
// name with the enclosing units and subprograms, and omits the numbers that distinguish overloaded
// subprograms.
func AdaName(s string) (string, bool) {
	s = strings.TrimPrefix(s, "_ada_")
	var b strings.Builder
	for {
		word := adaWord().FindString(s)
		if name, ok := adaOperators[word]; ok {
			fmt.Fprintf(&b, "%q", name)
		} else if word == "" || word[0] == 'O' {
			return "", false
		} else {
			b.WriteString(word)
		}
		s = s[len(word):]
		if end, ok := adaSpecial[s]; ok {
			return b.String() + end, true
		}
		s = strings.TrimPrefix(strings.TrimPrefix(s, "TKB"), "TK") // the body of a task, its content
		s = s[len(adaNumber().FindString(s)):]
		if number, ok := strings.CutPrefix(s, "."); ok && number != "" { // nested in another subprogram
			s = strings.TrimLeft(number, "0123456789")
		}
		if end, ok := adaSpecial[s]; ok || s == "" {
			return b.String() + end, true
		}
		rest, ok := strings.CutPrefix(s, "__")
		if !ok {
			return "", false
		}
		b.WriteByte('.')
		s = rest
	}
}

// adaWord matches a name or an operator; adaNumber matches the number of an overloaded subprogram
// and the mark of a nested one (`X`, `Xb`, `Xn`).
var (
	adaWord   = lazyregexp.New(`^(?:[a-z](?:_?[a-z0-9])*|O[a-z]+)`)
	adaNumber = lazyregexp.New(`^__[0-9](?:_?[0-9])*(?:X[bn]*)?`)
)
