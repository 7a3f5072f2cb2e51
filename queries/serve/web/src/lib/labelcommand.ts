// Commands that label experiments. The server only reads: the reader runs them.

// quoted returns a text as one word of a POSIX shell.
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

// selectorOf returns a selector that selects one experiment: its name, unless that has another meaning in a selector.
export function selectorOf(e: { experiment: string; experiment_id: string }): string {
  return /[*?[\]\\=,]|^\s|\s$|^-/.test(e.experiment) ? e.experiment_id : e.experiment;
}

// keyError says what is wrong with the key of a label, or is undefined. `columns` are the names that it may not have.
export function keyError(key: string, columns: string[]): string | undefined {
  if (key === '') return undefined;
  if (!/^[\w.-]+$/.test(key)) return 'A key has letters, digits, "_", "-" and ".".';
  if (columns.includes(key) && key !== 'started') return `${key} is a column of experiments: choose another key.`;
  return undefined;
}

// labelCommand returns the command that labels experiments; an empty value removes the label.
export function labelCommand(of: { experiment: string; experiment_id: string }[], key: string, value: string): string {
  const change = value === '' ? ['--remove', quoted(key)] : [quoted(`${key}=${value}`)];
  return ['stackmill label', ...of.map((e) => quoted(selectorOf(e))), ...change].join(' ');
}
