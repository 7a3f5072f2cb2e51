// matcher returns a test for texts that contain the search, or match it if it is a /regular expression/.
// An empty search has no test.
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
