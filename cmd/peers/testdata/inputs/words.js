const count = new Map();
class Item {
  constructor(n) { this.n = n; }
  key() { return (this.n * 2654435761 % 1000003).toString(36).replace(/[0-9]+/g, 'n'); }
}
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
for (let i = 0; i < 400000; i++) {
  const k = new Item(i).key();
  count.set(k, (count.get(k) || 0) + 1);
  if (i % 50 == 0) JSON.parse(JSON.stringify({ a: i, b: [i, String(i)], c: k }));
}
const list = [...count.keys()].sort();
console.log(list.length, fib(28), list.slice(0, 3));
