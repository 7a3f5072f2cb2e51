// Tables of a document: sorting by a column, and a search in long tables. Without this script, tables are static.

const searchable = 20; // rows from which a table has a search

for (const table of document.querySelectorAll<HTMLTableElement>('main table:not(.source)')) {
  const body = table.tBodies[0];
  if (body === undefined || body.rows.length < 2) continue;
  makeSortable(table, body);
  if (body.rows.length >= searchable) makeSearchable(table, body);
}

// makeSortable makes the heads of a table buttons that sort by their column: numbers start with the highest.
function makeSortable(table: HTMLTableElement, body: HTMLTableSectionElement): void {
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
  heads.forEach((head, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const numeric = head.classList.contains('num');
      const down = head.ariaSort === null ? numeric : head.ariaSort === 'ascending';
      for (const other of heads) other.ariaSort = null;
      head.ariaSort = down ? 'descending' : 'ascending';
      const rows = [...body.rows].filter((r) => !r.classList.contains('total'));
      rows.sort((a, b) => compare(a.cells[column], b.cells[column], numeric) * (down ? -1 : 1));
      body.append(...rows);
    });
  });
}

// compare compares cells by their values, or by their texts if a column has none.
function compare(a: HTMLTableCellElement | undefined, b: HTMLTableCellElement | undefined, numeric: boolean): number {
  const x = a?.dataset['sort'] ?? a?.textContent.trim() ?? '';
  const y = b?.dataset['sort'] ?? b?.textContent.trim() ?? '';
  if (numeric) {
    const [m, n] = [Number.parseFloat(x.replace('−', '-')), Number.parseFloat(y.replace('−', '-'))];
    if (!Number.isNaN(m) || !Number.isNaN(n))
      return (Number.isNaN(m) ? -Infinity : m) - (Number.isNaN(n) ? -Infinity : n);
  }
  return x < y ? -1 : x > y ? 1 : 0;
}

// makeSearchable puts a search field before a table. It hides the rows without the text.
function makeSearchable(table: HTMLTableElement, body: HTMLTableSectionElement): void {
  const label = document.createElement('label');
  const input = document.createElement('input');
  const count = document.createElement('output');
  input.type = 'search';
  label.append('Find in this table ', input);
  const bar = document.createElement('div');
  bar.className = 'controls';
  bar.append(label, count);
  (table.closest('.scroll') ?? table).before(bar);
  input.addEventListener('input', () => {
    const text = input.value.toLowerCase();
    let found = 0;
    for (const row of body.rows) {
      row.hidden = text !== '' && !row.classList.contains('total') && !row.textContent.toLowerCase().includes(text);
      if (!row.hidden && !row.classList.contains('total')) found++;
    }
    count.value = text === '' ? '' : `${found} rows`;
  });
}
