// matcher returns a function that tests whether a text contains the search or, if the search is /.../,
// matches it as a regular expression. For an empty search it returns undefined.
export function matcher(search: string): ((text: string) => boolean) | undefined {
  if (search === '') return undefined;
  if (search.length > 2 && search.startsWith('/') && search.endsWith('/')) {
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
