// The columns of the table of functions.
import { type ComponentChildren } from 'preact';
import { Bar } from '../parts/meter';
import { Name } from '../parts/name';
import type { Door } from './door';
import type { TableAnswer, TableRow } from './functiontable';
import { shortName } from './shortname';
import { amount, day, difference, exact, num, percent, signed, type Value } from './units';

export interface TableColumn {
  key: string;
  heading: ComponentChildren;
  title?: string; // of the heading
  width?: number; // px; the column of names has the rest
  className?: string;
  sort?: string; // the server's name of the column, if rows can be sorted by it
  cell: (r: TableRow, of: Door) => ComponentChildren;
  whole: ComponentChildren; // in the first row: all that the filter leaves
}

interface Shape {
  show: 'sum' | 'runs' | 'metrics';
  filtered: boolean;
  inclusive: boolean; // runs have inclusive values
}

function Value({ of, unit }: { of: Value; unit: string }) {
  return <span title={exact(of, unit)}>{amount(of, unit)}</span>;
}

// columnsOf returns the columns for an answer.
export function columnsOf(t: TableAnswer, shape: Shape): TableColumn[] {
  const values =
    shape.show === 'runs'
      ? runColumns(t, shape.inclusive)
      : shape.show === 'metrics'
        ? t.metrics.flatMap((_, i) => metricColumns(t, i))
        : t.metrics[0]!.base !== undefined
          ? baseColumns(t)
          : sumColumns(t, shape.filtered);
  return [...values, ...extraColumns(t), ...nameColumns(t)];
}

function sumColumns(t: TableAnswer, filtered: boolean): TableColumn[] {
  const { total, whole, unit } = t.metrics[0]!;
  const most = Math.max(...t.rows.map((r) => num(r.exclusive[0])), 1);
  const list: TableColumn[] = [];
  for (const what of ['exclusive', 'inclusive'] as const) {
    const own = what === 'exclusive';
    const of = (r: TableRow) => r[what][0] ?? 0;
    list.push(
      {
        key: what,
        heading: own ? 'Self' : 'Total',
        title: own ? 'samples whose stack ends in it' : 'samples whose stack has it, each once',
        width: 88,
        className: own ? 'number' : 'number second',
        sort: what,
        cell: (r) => <Value of={of(r)} unit={unit} />,
        whole: <Value of={total} unit={unit} />,
      },
      {
        key: what + 'bar',
        heading: <span class="hidden">Bar</span>,
        width: 84,
        className: own ? 'bars' : 'bars third',
        cell: (r) => num(of(r)) !== 0 && <Bar part={num(of(r))} total={own ? most : num(total)} pale={!own} />,
        whole: '',
      },
      {
        key: what + '%',
        heading: filtered ? 'of filter' : '%',
        title: filtered ? 'share of what the filters leave' : 'share of the selection',
        width: 66,
        className: own ? 'number share-of' : 'number share-of second',
        cell: (r) => percent(of(r), total),
        whole: percent(total, total),
      },
    );
    if (own && filtered)
      list.push({
        key: 'all',
        heading: 'of all',
        title: 'share of the selection without filters',
        width: 66,
        className: 'number dim second',
        cell: (r) => percent(of(r), whole),
        whole: percent(total, whole),
      });
  }
  return list;
}

// baseColumns have the means of both sides' runs, and their difference.
function baseColumns(t: TableAnswer): TableColumn[] {
  const { unit, experiments, base, total } = t.metrics[0]!;
  const runs = base!.experiments;
  const mean = (v: Value | undefined, n: number) => num(v ?? 0) / Math.max(n, 1);
  const note = (n: number) => (n === 1 ? 'one run' : `the mean of ${n} runs`);
  const list: TableColumn[] = [];
  for (const what of ['exclusive', 'inclusive'] as const) {
    const own = what === 'exclusive';
    const place = own ? '' : ' second';
    const before = (r: TableRow) => mean(r.base?.[what][0], runs);
    const after = (r: TableRow) => mean(r[what][0], experiments);
    const [b, a] = [mean(base!.total, runs), mean(total, experiments)];
    const change = (x: number, y: number) => (x === 0 ? (y === 0 ? '' : 'new') : y === 0 ? 'gone' : signed(y / x - 1));
    const text = (v: number) => <span title={exact(Math.round(v), unit)}>{amount(v, unit)}</span>;
    const diff = (x: number, y: number) => (
      <span class={x === y ? 'dim' : ''} title={exact(Math.round(y - x), unit)}>
        {difference(y - x, unit)}
      </span>
    );
    const side = own ? 'self' : 'total';
    list.push(
      {
        key: what + 'base',
        heading: own ? 'Base' : 'Base total',
        title: `${side}: ${note(runs)}`,
        width: 92,
        className: 'number' + place,
        sort: `base-${what}`,
        cell: (r) => text(before(r)),
        whole: text(b),
      },
      {
        key: what + 'test',
        heading: own ? 'Test' : 'Test total',
        title: `${side}: ${note(experiments)}`,
        width: 92,
        className: 'number' + place,
        sort: `${what}.0`,
        cell: (r) => text(after(r)),
        whole: text(a),
      },
      {
        key: what + 'difference',
        heading: own ? 'Difference' : 'Difference total',
        title: `${side}: test minus base`,
        width: own ? 104 : 132,
        className: 'number' + place,
        sort: what,
        cell: (r) => diff(before(r), after(r)),
        whole: diff(b, a),
      },
    );
    if (own)
      list.push({
        key: what + 'change',
        heading: '%',
        title: 'test against base',
        width: 76,
        className: 'number dim',
        cell: (r) => change(before(r), after(r)),
        whole: change(b, a),
      });
  }
  return list;
}

function metricColumns(t: TableAnswer, i: number): TableColumn[] {
  const { metric, unit, total } = t.metrics[i]!;
  const name = metric.length > 24 ? metric.slice(0, 23) + '…' : metric;
  return [
    {
      key: `self${i}`,
      heading: name,
      title: `${metric}: self`,
      width: Math.max(96, 24 + 7 * name.length),
      className: 'number',
      sort: i === 0 ? 'exclusive' : `exclusive.${i}`,
      cell: (r) => <Value of={r.exclusive[i] ?? 0} unit={unit} />,
      whole: <Value of={total} unit={unit} />,
    },
    {
      key: `%${i}`,
      heading: '%',
      title: `${metric}: share of ${amount(total, unit)}`,
      width: 62,
      className: 'number dim',
      cell: (r) => percent(r.exclusive[i] ?? 0, total),
      whole: percent(total, total),
    },
    {
      key: `total${i}`,
      heading: 'Total',
      title: `${metric}: total`,
      width: 84,
      className: 'number second',
      sort: i === 0 ? 'inclusive' : `inclusive.${i}`,
      cell: (r) => <Value of={r.inclusive[i] ?? 0} unit={unit} />,
      whole: <Value of={total} unit={unit} />,
    },
  ];
}

// runColumns have the values of each run or, of many, the lowest, median and highest, with the sum before them.
function runColumns(t: TableAnswer, inclusive: boolean): TableColumn[] {
  const { unit, total } = t.metrics[0]!;
  const what = inclusive ? 'inclusive' : 'exclusive';
  const labels = t.runs.map((r) =>
    t.spread ? r.label : r.started === null ? last(r.label) : day(r.started.slice(0, 10)),
  );
  const list: TableColumn[] = [
    {
      key: 'sum',
      heading: inclusive ? 'Total, sum' : 'Self, sum',
      width: 92,
      className: 'number',
      sort: what,
      cell: (r) => <Value of={r[what][0] ?? 0} unit={unit} />,
      whole: <Value of={total} unit={unit} />,
    },
  ];
  t.runs.forEach((run, i) => {
    const same = labels.filter((l) => l === labels[i]).length > 1;
    list.push({
      key: `run${i}`,
      heading: same ? short(last(run.label)) : labels[i]!,
      title: t.spread ? `the ${run.label} of ${t.metrics[0]!.experiments} runs` : run.label,
      width: t.spread ? 92 : 74,
      className: 'number',
      ...(inclusive ? {} : { sort: `run.${i}` }),
      cell: (r) => {
        const v = r.runs?.[what][i] ?? 0;
        return <span title={exact(Math.round(v), unit)}>{amount(v, unit)}</span>;
      },
      whole: amount(run.total, unit),
    });
  });
  return list;
}

const last = (path: string) => path.slice(path.lastIndexOf('/') + 1);
const short = (text: string) => (text.length > 9 ? text.slice(0, 8) + '…' : text);

function extraColumns(t: TableAnswer): TableColumn[] {
  const list: TableColumn[] = [];
  if (t.rows.some((r) => r.size > 0))
    list.push({
      key: 'size',
      heading: 'Size',
      title: 'bytes of code',
      width: 84,
      className: 'number second',
      cell: (r) => (r.size === 0 ? '' : amount(r.size, 'bytes')),
      whole: '',
    });
  if (t.nights.length > 0)
    list.push({
      key: 'history',
      heading: `${t.nights.length} nights`,
      title: 'self by night: the mean of its runs',
      width: 112,
      className: 'second',
      cell: (r) => <History of={r.history} unit={t.metrics[0]!.unit} />,
      whole: '',
    });
  return list;
}

function History({ of, unit }: { of: number[]; unit: string }) {
  const most = Math.max(...of, 1);
  const x = (i: number) => 2 + (of.length === 1 ? 44 : (84 * i) / (of.length - 1));
  const y = (v: number) => 16 - (13 * v) / most;
  return (
    <svg width="88" height="18" role="img" aria-label={`by night: ${of.map((v) => amount(v, unit)).join(', ')}`}>
      <path d={of.map((v, i) => `${i === 0 ? 'M' : 'L'}${x(i).toFixed(1)} ${y(v).toFixed(1)}`).join('')} />
      <circle cx={x(of.length - 1)} cy={y(of[of.length - 1] ?? 0)} r="2" />
    </svg>
  );
}

function nameColumns(t: TableAnswer): TableColumn[] {
  const thing =
    { function: 'Function', module: 'Module', 'load-object': 'Load object', package: 'Package' }[t.group] ?? 'Function';
  const list: TableColumn[] = [
    {
      key: 'name',
      heading: thing,
      className: 'name',
      sort: 'function',
      cell: (_, of) => <Name of={of} text={shortName(of.name)} />,
      whole: (
        <b>
          {num(t.metrics[0]!.total) === num(t.metrics[0]!.whole)
            ? 'All of the selection'
            : 'All that the filter leaves'}
        </b>
      ),
    },
  ];
  if (t.group === 'function' || t.group === 'module')
    list.push({
      key: 'object',
      heading: 'Load object',
      width: 136,
      className: 'object third',
      sort: 'load_object',
      cell: (r) => (
        <span class="cut" title={r.load_object}>
          <i class="swatch" style={{ background: `var(--frame${swatchOf(r.load_object)})` }} aria-hidden="true" />
          {last(r.load_object)}
        </span>
      ),
      whole: '',
    });
  return list;
}

// swatchOf returns the number of a load object's color.
function swatchOf(name: string): number {
  if (name === '' || name.startsWith('<')) return 8;
  let h = 7;
  for (let i = 0; i < name.length; i++) h = (Math.imul(h, 31) + name.charCodeAt(i)) | 0;
  return (h >>> 3) & 7;
}
