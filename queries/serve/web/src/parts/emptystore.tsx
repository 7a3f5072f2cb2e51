// What an empty store shows: the command that fills it.
import { Copy } from './copy';

const command = 'stackmill ingest --store DIR --recursive \\\n  --label-from "/(?P<night>[^/]+)/" RECORDINGS';

export function EmptyStore() {
  return (
    <section class="card pad emptystore">
      <h2>Empty store</h2>
      <p>There are no recordings yet. Put some in; this page shows them without a reload.</p>
      <pre>{command}</pre>
      <p class="ways">
        <Copy text={command} label="Copy" />
      </p>
      <p class="dim">
        perf.data, .er directories and pprof profiles are read as they are. For perf, <code>-k mono</code> tells when a
        run began.
      </p>
    </section>
  );
}
