// Searches for names: a part of a name, or a regular expression between slashes.

// matcher returns a function that tests whether a text contains the search or, if the search is /.../, matches it as
// a regular expression; undefined for an empty search. An invalid expression matches nothing: see searchError.
export function matcher(search: string): ((text: string) => boolean) | undefined {
  if (search === '') return undefined;
  if (isExpression(search)) {
    try {
      const expression = new RegExp(search.slice(1, -1), 'i');
      return (text) => expression.test(text);
    } catch {
      return () => false;
    }
  }
  const lower = search.toLowerCase();
  return (text) => text.toLowerCase().includes(lower);
}

function isExpression(search: string): boolean {
  return search.length > 2 && search.startsWith('/') && search.endsWith('/');
}

// searchError returns what is wrong with the regular expression of a search; undefined if nothing is.
export function searchError(search: string): string | undefined {
  if (!isExpression(search)) return undefined;
  try {
    new RegExp(search.slice(1, -1), 'i');
    return undefined;
  } catch (e) {
    return (e as Error).message.replace(/^Invalid regular expression: /, '');
  }
}
