// The panel of values that belong to no function, with the reasons, and of problems of recordings.
import { useData } from '../lib/api';
import { Panel } from '../parts/panel';
import { scope, useAddress } from '../lib/address';
import { Table } from '../parts/table';
import { amount, num } from '../lib/units';
import type { ProblemRow, UnattributedRow } from '../lib/rows';

export function UnknownPanel() {
  const address = useAddress();
  const reasons = useData<UnattributedRow[]>('views/unattributed', {
    ...scope(address),
    metric: address.get('metric'),
  });
  const problems = useData<ProblemRow[]>('problems', { experiment: address.all('experiment') });
  return (
    <>
      <Panel
        title="Not attributed"
        answer={reasons}
        empty={(rows) => rows.length === 0}
        none="Every sample has a function, an instruction and, where it is an access to memory, a data object."
      >
        {(rows) => (
          <>
            <h2>Not attributed, and why</h2>
            <Table
              label="Not attributed"
              rows={rows}
              keyOf={(r) => r.experiment + r.metric + r.subject + r.reason + r.load_object}
              columns={[
                { title: 'Value', numeric: true, value: (r) => num(r.value), show: (r) => amount(r.value, r.unit) },
                { title: 'Samples', numeric: true, value: (r) => num(r.samples) },
                { title: 'What', value: (r) => r.subject },
                { title: 'Reason', value: (r) => r.reason },
                { title: 'Load object', value: (r) => r.load_object },
                { title: 'Experiment', value: (r) => r.experiment },
              ]}
            />
          </>
        )}
      </Panel>
      <Panel
        title="Problems"
        answer={problems}
        empty={(rows) => rows.length === 0}
        none="Nothing is wrong with the recordings."
      >
        {(rows) => (
          <>
            <h2>Problems of the recordings</h2>
            <Table
              label="Problems"
              rows={rows}
              keyOf={(r) => r.experiment_id + r.problem}
              columns={[
                { title: 'Severity', value: (r) => r.severity },
                { title: 'Experiment', value: (r) => r.experiment ?? '' },
                { title: 'Reason', value: (r) => r.reason },
                { title: 'Count', numeric: true, value: (r) => num(r.count) },
                { title: 'File', value: (r) => r.file },
                { title: 'Message', value: (r) => r.message },
              ]}
            />
          </>
        )}
      </Panel>
    </>
  );
}
