// The panel of what is not known: values without a function, and problems of recordings.
import { useData } from './api';
import { Frame } from './parts';
import { scope, usePlace } from './place';
import { Table } from './table';
import { amount, num, type Value } from './units';

interface Reason {
  experiment: string;
  metric: string;
  unit: string;
  subject: string;
  reason: string;
  load_object: string;
  samples: Value;
  value: Value;
}

interface Problem {
  experiment: string;
  problem: number;
  severity: string;
  file: string;
  reason: string;
  message: string;
  count: Value;
}

export function UnknownPanel() {
  const place = usePlace();
  const reasons = useData<Reason[]>('views/unattributed', { ...scope(place), metric: place.get('metric') });
  const problems = useData<Problem[]>('problems', { experiment: place.all('experiment') });
  return (
    <>
      <Frame title="Not attributed" answer={reasons} empty={(rows) => rows.length === 0} none="Every sample has a function, an instruction and, where it is an access to memory, a data object.">
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
      </Frame>
      <Frame title="Problems" answer={problems} empty={(rows) => rows.length === 0} none="Nothing is wrong with the recordings.">
        {(rows) => (
          <>
            <h2>Problems of the recordings</h2>
            <Table
              label="Problems"
              rows={rows}
              keyOf={(r) => r.experiment + r.problem}
              columns={[
                { title: 'Severity', value: (r) => r.severity },
                { title: 'Experiment', value: (r) => r.experiment },
                { title: 'Reason', value: (r) => r.reason },
                { title: 'Count', numeric: true, value: (r) => num(r.count) },
                { title: 'File', value: (r) => r.file },
                { title: 'Message', value: (r) => r.message },
              ]}
            />
          </>
        )}
      </Frame>
    </>
  );
}
