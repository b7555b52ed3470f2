/** Kubernetes quantities, such as `8Gi`, in every form that Kubernetes accepts: `2e9`, `1288490188800m`, `+1.5Gi`. */

const FACTORS: ReadonlyMap<string, number> = new Map([
  ["", 1],
  ["k", 1e3],
  ["M", 1e6],
  ["G", 1e9],
  ["T", 1e12],
  ["P", 1e15],
  ["E", 1e18],
  ...["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].map((unit, power) => [unit, 1024 ** (power + 1)] as const),
]);
/** A division keeps `700m` equal to `0.7`; a multiplication by 0.001 does not. */
const DIVISORS: ReadonlyMap<string, number> = new Map([
  ["m", 1e3],
  ["u", 1e6],
  ["n", 1e9],
]);
const QUANTITY = /^\+?([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:([eE][+-]?[0-9]+)|([a-zA-Z]{0,2}))$/;

/** @returns the amount, which may have a fraction; undefined for invalid text */
export function amountOf(text: string): number | undefined {
  const [, digits = "", exponent = "", unit = ""] = QUANTITY.exec(text) ?? [];
  const [factor, divisor] = [FACTORS.get(unit), DIVISORS.get(unit)];
  if (digits === "" || (factor === undefined && divisor === undefined)) {
    return undefined;
  }
  const number = Number(`${digits}${exponent}`);
  return divisor === undefined ? number * (factor ?? 1) : number / divisor;
}

/** @returns the amount, rounded up to whole units (bytes for volumes and memory); undefined for invalid text */
export function parseQuantity(text: string): number | undefined {
  const amount = amountOf(text);
  return amount === undefined ? undefined : Math.ceil(amount);
}
