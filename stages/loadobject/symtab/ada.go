package symtab

import "strings"

// adaOperators are the words in symbols of operators.
var adaOperators = map[string]string{
	"Oabs": "abs", "Oand": "and", "Omod": "mod", "Onot": "not", "Oor": "or", "Orem": "rem", "Oxor": "xor", "Oeq": "=", "One": "/=", "Olt": "<",
	"Ole": "<=", "Ogt": ">", "Oge": ">=", "Oadd": "+", "Osubtract": "-", "Oconcat": "&", "Omultiply": "*", "Odivide": "/", "Oexpon": "**",
}

// adaSpecial are the suffixes of symbols that GNAT generates for packages and types.
var adaSpecial = map[string]string{
	"___elabb": "'Elab_Body", "___elabs": "'Elab_Spec", "___size": "'Size", "___alignment": "'Alignment", "___assign": `.":="`,
	"SR": "'Read", "SW": "'Write", "SI": "'Input", "SO": "'Output", "DF": ".Finalize", "DA": ".Adjust", "P": "", "N": "",
}

// AdaName decodes a symbol of GNAT's as `c++filt -s gnat` does; false for other symbols. The name is
// qualified with the enclosing units and subprograms. It omits the numbers that distinguish
// overloaded subprograms.
func AdaName(s string) (string, bool) {
	s = strings.TrimPrefix(s, "_ada_")
	var b strings.Builder
	for {
		word, rest := adaWord(s)
		if word == "" {
			return "", false
		}
		b.WriteString(word)
		s = rest
		if end, ok := adaSpecial[s]; ok {
			return b.String() + end, true
		}
		s = strings.TrimPrefix(strings.TrimPrefix(s, "TKB"), "TK") // the body of a task, its content
		number, isNumbered := strings.CutPrefix(s, "__")
		if isNumbered && number != "" && isDigit(number[0]) {
			s = adaEnd(number)
		}
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

// adaWord cuts a name or an operator off a symbol.
func adaWord(s string) (word, rest string) {
	isLower := func(c byte) bool { return 'a' <= c && c <= 'z' }
	switch {
	case s == "":
		return "", ""
	case s[0] == 'O':
		n := 1
		for n < len(s) && isLower(s[n]) {
			n++
		}
		if name, ok := adaOperators[s[:n]]; ok {
			return `"` + name + `"`, s[n:]
		}
		return "", s
	case !isLower(s[0]):
		return "", s
	}
	n := 1
	for n < len(s) && (isLower(s[n]) || isDigit(s[n]) || s[n] == '_' && n+1 < len(s) && (isLower(s[n+1]) || isDigit(s[n+1]))) {
		n++
	}
	return s[:n], s[n:]
}

// adaEnd cuts off the number of an overloaded subprogram, and the mark of a nested one (`X`, `Xb`, `Xn`).
func adaEnd(s string) string {
	for s != "" && (isDigit(s[0]) || s[0] == '_' && len(s) > 1 && isDigit(s[1])) {
		s = s[1:]
	}
	if marks, ok := strings.CutPrefix(s, "X"); ok {
		s = strings.TrimLeft(marks, "bn")
	}
	return s
}
