package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stackmill/internal/exit"
)

// checkedValue is a flag's value that check validates after it was parsed.
type checkedValue struct {
	pflag.Value
	check func() error
}

// Set implements pflag.Value.
func (v checkedValue) Set(text string) error {
	if err := v.Value.Set(text); err != nil {
		return err
	}
	if err := v.check(); err != nil {
		return valueError{err}
	}
	return nil
}

// valueError is an error of checkedValue.check. Its message is complete: users see no other text
// with it.
type valueError struct{ error }

// checkValue makes a flag check its value.
func checkValue(f *pflag.FlagSet, name string, check func() error) {
	flag := f.Lookup(name)
	flag.Value = checkedValue{flag.Value, check}
}

// flagError returns the usage error about a flag.
func flagError(cmd *cobra.Command, err error) error {
	verb := verbOf(cmd)
	text := flagMessage(cmd.Flags(), err)
	if cmd == cmd.Root() {
		return exit.Usagef("%s (see stackmill --help)", text)
	}
	if errors.As(err, new(*pflag.InvalidValueError)) { // its text lists the accepted values
		return exit.Usagef("%s: %s", verb, text)
	}
	return exit.Usagef("%s: %s (see %s --help)", verb, text, cmd.CommandPath())
}

// flagMessage returns the text of an error that a command's flags returned for a call: the flag,
// its value, and the accepted values.
func flagMessage(flags *pflag.FlagSet, err error) string {
	var unknown *pflag.NotExistError
	var without *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	var syntax *pflag.InvalidSyntaxError
	switch {
	case errors.As(err, &unknown):
		if unknown.GetSpecifiedShortnames() != "" {
			return fmt.Sprintf("-%s: no such option", unknown.GetSpecifiedName())
		}
		return fmt.Sprintf("--%s: no such option%s", unknown.GetSpecifiedName(), insteadOf(flags, unknown.GetSpecifiedName()))
	case errors.As(err, &without):
		return fmt.Sprintf("--%s: no value is given", without.GetFlag().Name)
	case errors.As(err, &syntax):
		return fmt.Sprintf("%s: not an option", syntax.GetSpecifiedFlag())
	case errors.As(err, &invalid):
		flag := invalid.GetFlag()
		return fmt.Sprintf("--%s: %s", flag.Name, valueMessage(flag.Value.Type(), invalid))
	}
	return err.Error()
}

// insteadOf returns a text to append to an error: what to write instead of an option that a verb lacks.
func insteadOf(flags *pflag.FlagSet, name string) string {
	if name == "experiment" && flags.Lookup("base") != nil {
		return ": --base and --test select experiments here"
	}
	var known []string
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, "--"+f.Name)
		}
	})
	return suggestion("--"+name, known)
}

// valueMessage describes why a flag of a type does not accept a value, and what it accepts.
func valueMessage(kind string, invalid *pflag.InvalidValueError) string {
	var refused valueError
	if errors.As(invalid, &refused) {
		return refused.Error()
	}
	text := strconv.Quote(invalid.GetValue())
	switch {
	case errors.Is(invalid, strconv.ErrRange):
		return text + " is too large a number"
	case kind == "bool":
		return text + " is neither true nor false"
	case kind == "duration":
		return text + " is not a length of time (write 10s, 1m30s or 2h)"
	case kind == "float64":
		return text + " is not a number (write 30 or 2.5)"
	case strings.HasSuffix(kind, "Slice") && strings.HasPrefix(kind, "int"):
		return text + " is not a list of whole numbers (write 17 or 17,18)"
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"):
		return text + " is not a whole number (write 20)"
	}
	return text + ": " + invalid.Unwrap().Error()
}

// verbOf returns the words after "stackmill" that call a command, such as "plan retry".
func verbOf(cmd *cobra.Command) string {
	_, words, _ := strings.Cut(cmd.CommandPath(), " ")
	return words
}

// completeFrom completes a flag with names.
func completeFrom(c *cobra.Command, flag string, names []string) {
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
}

// oneOf restricts a flag to these names and completes them. what is the noun for a name in errors.
func oneOf(c *cobra.Command, flag, what string, names []string) {
	value := c.Flags().Lookup(flag).Value
	checkValue(c.Flags(), flag, func() error {
		if slices.Contains(names, value.String()) {
			return nil
		}
		return fmt.Errorf("no %s %q%s (choose one of %s)", what, value, suggestion(value.String(), names), strings.Join(names, ", "))
	})
	completeFrom(c, flag, names)
}

// formatVar adds the flag --format, which accepts these names; the first is the default. If json is
// among them, it also adds --json, which is short for --format json.
func formatVar(c *cobra.Command, to *string, usage string, names ...string) {
	f := c.Flags()
	f.StringVar(to, "format", names[0], usage)
	oneOf(c, "format", "format", names)
	if !slices.Contains(names, "json") {
		return
	}
	asJSON := f.Bool("json", false, "the same as --format json")
	checkValue(f, "format", func() error {
		if *asJSON && *to != "json" {
			return fmt.Errorf("%q and --json exclude each other (give one of them)", *to)
		}
		return nil
	})
	checkValue(f, "json", func() error {
		switch {
		case !*asJSON:
			return nil
		case f.Changed("format") && *to != "json":
			return fmt.Errorf("it and --format %s exclude each other (give one of them)", *to)
		}
		return f.Set("format", "json")
	})
}

// limitVar adds the flag --limit to a verb that prints rows; value is the default.
func limitVar(c *cobra.Command, to *int, value int, usage string) {
	c.Flags().IntVar(to, "limit", value, usage)
	atLeast(c.Flags(), "limit", to, 0)
}

// positive makes a flag refuse durations that are not positive.
func positive(f *pflag.FlagSet, name string, d *time.Duration) {
	checkValue(f, name, func() error {
		if *d <= 0 {
			return fmt.Errorf("%v is not positive", *d)
		}
		return nil
	})
}

// atLeast makes a flag reject numbers below a limit.
func atLeast[N int | time.Duration](f *pflag.FlagSet, name string, n *N, limit int) {
	checkValue(f, name, func() error {
		if *n < N(limit) {
			return fmt.Errorf("%v is less than %d", *n, limit)
		}
		return nil
	})
}

// sizeVar adds a flag that takes a size such as 512M.
func sizeVar(f *pflag.FlagSet, to *int64, name, value, usage string) {
	text := f.String(name, value, usage)
	read := func() (err error) {
		if *text != "" || value != "" {
			*to, err = parseSize(*text)
		}
		return err
	}
	_ = read() // cannot fail: the default is a valid size
	checkValue(f, name, read)
}

// parseSize reads a size such as 512M: K, M, G are powers of 1024.
func parseSize(s string) (int64, error) {
	t := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(s), "B"), "I")
	shift := 0
	if t != "" {
		if i := strings.IndexByte("KMGT", t[len(t)-1]); i >= 0 {
			shift = 10 * (i + 1)
			t = t[:len(t)-1]
		}
	}
	n, err := strconv.ParseInt(t, 10, 64)
	if err != nil || n <= 0 || n > 1<<62>>shift {
		return 0, fmt.Errorf("%q is not a size (write 512M or 2G)", s)
	}
	return n << shift, nil
}

// named puts the name of the verb before the message of err; it returns nil if err is nil.
func named(verb string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", verb, err)
}
