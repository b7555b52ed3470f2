/** The value below which `percent` per cent of the ascending values lie; nearest rank, 0 for none. */
export function percentile(ascending: Float64Array, percent: number): number {
  const rank = Math.ceil((percent / 100) * ascending.length);
  return ascending[Math.max(0, rank - 1)] ?? 0;
}
