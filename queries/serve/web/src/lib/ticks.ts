// ticksOf returns about as many round values as asked for, from the lowest to the highest value.
export function ticksOf(low: number, high: number, about: number): number[] {
  const range = Math.max(high - low, Math.abs(high) * 1e-9, 1e-9);
  const rough = range / about;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((f) => f * unit).find((s) => s >= rough * 0.999) ?? rough;
  const ticks: number[] = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-9; n++) ticks.push(n * step);
  return ticks;
}
