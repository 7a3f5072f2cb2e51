import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { keyError, labelCommand, selectorOf } from '../src/lib/labelcommand.ts';

test('the command has each argument as one word of a shell', () => {
  const named = ['plain.er', "it's a run.er", 'a$b`c".er', 'wild*.er', '-dash.er'];
  const of = named.map((experiment, n) => ({ experiment, experiment_id: `00000000000000a${n}` }));
  const command = labelCommand(of, 'note', "5 > 4; it's\n$HOME");
  const words = execFileSync('sh', ['-c', `stackmill() { for w; do printf '%s\\0' "$w"; done; }; ${command}`])
    .toString()
    .split('\0');
  assert.deepEqual(words, [
    'label',
    'plain.er',
    "it's a run.er",
    'a$b`c".er',
    '00000000000000a3',
    '00000000000000a4',
    "note=5 > 4; it's\n$HOME",
    '',
  ]);
  assert.equal(labelCommand(of.slice(0, 1), 'note', ''), 'stackmill label plain.er --remove note');
  assert.equal(selectorOf({ experiment: 'a=b', experiment_id: 'x' }), 'x');
});

test('keys of labels', () => {
  assert.equal(keyError('', ['host']), undefined);
  assert.equal(keyError('build.2-x', ['host']), undefined);
  assert.equal(keyError('started', ['started']), undefined);
  assert.match(keyError('a b', ['host']), /letters/);
  assert.match(keyError('host', ['host']), /column/);
});
