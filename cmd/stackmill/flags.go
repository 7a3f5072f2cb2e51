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
	var invalid *pflag.InvalidValueError
	var refused valueError
	if errors.As(err, &invalid) && errors.As(err, &refused) {
		return exit.Usagef("%s: --%s: %w", verbOf(cmd), invalid.GetFlag().Name, refused)
	}
	return exit.Usagef("%s: %w (see %s --help)", cmd.Name(), err, cmd.CommandPath())
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
		return fmt.Errorf("no %s %q (choose one of %s)", what, value, strings.Join(names, ", "))
	})
	completeFrom(c, flag, names)
}

// formatVar adds the flag --format, which accepts these names; the first is the default.
func formatVar(c *cobra.Command, to *string, usage string, names ...string) {
	c.Flags().StringVar(to, "format", names[0], usage)
	oneOf(c, "format", "format", names)
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
