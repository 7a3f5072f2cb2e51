// Searches in texts.

// finder is a test of texts: for a part of them, or, between slashes, a regular expression.
export function finder(search: string): ((text: string) => boolean) | undefined {
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
