import assert from 'node:assert/strict';
import { test } from 'node:test';
import { amount, count, difference, exact, percent, signed } from '../src/lib/units';

const plain = (text) => text.replaceAll('\u202f', '_').replaceAll('\u2212', '-');

test('amounts have three significant digits and one unit', () => {
  for (const [value, unit, want] of [
    [0, 'ns', '0'],
    [9_940_000_000, 'ns', '9.94_s'],
    [465_000_000, 'ns', '465_ms'],
    [102_400, 'ns', '102_µs'],
    [73_036_500, 'ns', '73.0_ms'],
    [999_600_000, 'ns', '1.00_s'],
    [999_400_000, 'ns', '999_ms'],
    [22_605_477_696_884, 'ns', '22,605_s'],
    [-434_000, 'ns', '-434_µs'],
    ['9223372036854775807', 'ns', '9,223,372,037_s'],
    [4300, 'bytes', '4.20_KiB'],
    [1023, 'bytes', '1,023_B'],
    [9431, 'count', '9,431'],
    [9999, 'count', '9,999'],
    [12_345, 'count', '12.3_k'],
    [999_700, 'count', '1.00_M'],
    [17, 'cycles', '17_cycles'],
  ])
    assert.equal(plain(amount(value, unit)), want);
});

test('percentages have one digit, and small ones say so', () => {
  assert.equal(plain(percent(374, 1000)), '37.4_%');
  assert.equal(plain(percent(4, 10_000)), '<_0.1_%');
  assert.equal(percent(0, 10), '0');
  assert.equal(percent(1, 0), '');
});

test('changes have a sign, and exact values all digits', () => {
  assert.equal(plain(signed(0.13)), '+13.0_%');
  assert.equal(plain(signed(-0.002)), '-0.2_%');
  assert.equal(plain(difference(8_250_000, 'ns')), '+8.25_ms');
  assert.equal(plain(difference(-500_000, 'ns')), '-500_µs');
  assert.equal(plain(exact('9223372036854775807', 'ns')), '9,223,372,036,854,775,807_ns');
  assert.equal(plain(count(12_300)), '12.3_k');
});
