import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { URLSearchParams } from 'node:url';
import { Address, currentAddress, navigate, scope } from '../src/lib/address';
import { requestURL } from '../src/lib/api';

const address = (query) => new Address(new URLSearchParams(query));

test('an address changes some parameters and keeps the others', () => {
  const a = address('?view=flame&experiment=a.er&experiment=b.er');
  assert.equal(a.get('view'), 'flame');
  assert.equal(a.get('mode', 'user'), 'user');
  assert.deepEqual(a.all('experiment'), ['a.er', 'b.er']);
  assert.equal(a.with({ view: 'functions' }), '/?experiment=a.er&experiment=b.er&view=functions');
  assert.equal(a.with({ experiment: ['c d', 'e&f'] }), '/?view=flame&experiment=c+d&experiment=e%26f');
  assert.equal(a.with({ view: null, experiment: '' }), '/');
});

test('another place keeps what all places understand, and nothing else', () => {
  const a = address('?view=flame&experiment=a.er&base=b.er&thread=17&function=f&zoom=4&search=x');
  assert.equal(
    a.with({ view: 'source', line: '3' }),
    '/?experiment=a.er&base=b.er&thread=17&function=f&view=source&line=3',
  );
  assert.equal(
    a.with({ view: 'flame', search: 'y' }),
    '/?experiment=a.er&base=b.er&thread=17&function=f&zoom=4&view=flame&search=y',
  );
});

test('an address survives being written and read', () => {
  const where = "stack_has('a&b') and cpu = 3 + 4 % 2 # é";
  const written = address('').with({ where, zoom: '17' });
  assert.equal(address(written.slice(1)).get('where'), where);
});

test('requests have the parameters that panels share', () => {
  const a = address('?view=flame&experiment=a.er&mode=expert&where=cpu+%3D+3&thread=17&zoom=4');
  assert.equal(
    requestURL('flamegraph', scope(a)),
    '/api/v1/flamegraph?experiment=a.er&mode=expert&where=cpu+%3D+3&thread=17',
  );
  assert.equal(requestURL('metrics', { experiment: [], mode: '', where: null }), '/api/v1/metrics');
});

let steps;
beforeEach(() => {
  steps = [];
  globalThis.location = { pathname: '/', search: '?view=flame&zoom=4' };
  globalThis.scrollY = 0;
  const step = (kind) => (_state, _title, to) => {
    if (to === undefined) return; // only remembers where the reader was
    steps.push(`${kind} ${to}`);
    globalThis.location.search = to.slice(1);
  };
  globalThis.history = { pushState: step('push'), replaceState: step('replace') };
});

test('navigating adds a step, replacing changes the current one, and no change adds none', () => {
  navigate({ zoom: '5' });
  navigate({ search: 'main' }, true);
  navigate({ search: 'main' });
  assert.deepEqual(steps, ['push /?view=flame&zoom=5', 'replace /?view=flame&zoom=5&search=main']);
  assert.equal(currentAddress().get('search'), 'main');
});
