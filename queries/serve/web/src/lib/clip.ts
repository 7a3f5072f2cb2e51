// Shortening of names.

// clip shortens a name to a number of letters. It first drops the package's path, because the part after it
// distinguishes functions.
export function clip(name: string, letters: number): string {
  if (name.length <= letters) return name;
  const short = name.slice(/^[\w.+~-]+(\/[\w.+~-]+)*\//.exec(name)?.[0].length ?? 0);
  return short.length <= letters ? short : short.slice(0, Math.max(letters - 1, 1)) + '…';
}
