/** Kubernetes quantities, such as `8Gi`. */

const FACTORS: ReadonlyMap<string, number> = new Map([
  ["", 1],
  ["k", 1e3],
  ["M", 1e6],
  ["G", 1e9],
  ["T", 1e12],
  ["P", 1e15],
  ["E", 1e18],
  ["m", 1e-3],
  ...["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].map((unit, power) => [unit, 1024 ** (power + 1)] as const),
]);

/** @returns the amount, rounded up to whole units (bytes for volumes and memory); undefined for invalid text */
export function parseQuantity(text: string): number | undefined {
  const match = /^([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:([eE][+-]?[0-9]+)|([a-zA-Z]{0,2}))$/.exec(text);
  const factor = FACTORS.get(match?.[3] ?? "");
  return match === null || factor === undefined
    ? undefined
    : Math.ceil(Number(`${match[1]}${match[2] ?? ""}`) * factor);
}
