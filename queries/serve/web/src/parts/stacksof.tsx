// The stacks of the calls on a file, of a system call, or of waits for a lock.
import { useData } from '../lib/api';
import { scope, useAddress } from '../lib/address';
import { amount, count, percent, num } from '../lib/units';
import { FoldingTable } from './foldingtable';
import { Panel } from './panel';
import { StackFrames, StackName } from './stack';
import type { StackUse } from '../lib/memory';

export function StacksOf(p: {
  kind: 'file' | 'system-call' | 'device' | 'lock' | 'object';
  item: string;
  bytes?: boolean;
}) {
  const address = useAddress();
  const answer = useData<StackUse[]>('stacks', { ...scope(address), kind: p.kind, item: p.item });
  return (
    <Panel title="Stacks" answer={answer}>
      {(rows) => {
        const total = rows.reduce((n, r) => n + num(r.time_ns), 0);
        return (
          <FoldingTable
            label={`Stacks of ${p.item}`}
            open="stack"
            rows={rows}
            keyOf={(r) => r.stack}
            detail={(r) => <StackFrames stack={r.stack} />}
            columns={[
              {
                title: 'Time',
                numeric: true,
                width: '76px',
                value: (r) => r.time_ns,
                show: (r) => amount(r.time_ns, 'ns'),
              },
              {
                title: '%',
                numeric: true,
                width: '64px',
                value: (r) => r.time_ns,
                show: (r) => percent(r.time_ns, total),
              },
              {
                title: 'Longest',
                numeric: true,
                wide: true,
                width: '84px',
                value: (r) => r.longest_ns,
                show: (r) => amount(r.longest_ns, 'ns'),
              },
              { title: 'Times', numeric: true, width: '72px', value: (r) => r.count, show: (r) => count(r.count) },
              ...(p.bytes === true
                ? [
                    {
                      title: 'Bytes',
                      numeric: true,
                      wide: true,
                      width: '84px',
                      value: (r: StackUse) => r.bytes,
                      show: (r: StackUse) => amount(r.bytes, 'bytes'),
                    },
                  ]
                : []),
              { title: 'Errors', numeric: true, wide: true, width: '64px', value: (r) => r.errors },
              { title: 'Called by', value: (r) => r.stack, show: (r) => <StackName stack={r.stack} /> },
            ]}
          />
        );
      }}
    </Panel>
  );
}
