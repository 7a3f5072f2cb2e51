// Numbers of a document, formatted as queries/html/number.go does.
import { amount as spaced } from '../lib/units';

const thin = '\u202f'; // between a number and its unit

export function amount(v: number, unit: string): string {
  return spaced(v, unit).replace(' ', thin);
}

// share formats a part of a whole as a percentage with one digit.
export function share(part: number, whole: number): string {
  if (part === 0 || whole === 0) return '0';
  const percent = (100 * part) / whole;
  return percent < 0.05 ? `<${thin}0.1${thin}%` : `${percent.toFixed(1)}${thin}%`;
}
