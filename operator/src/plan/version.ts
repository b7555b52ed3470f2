/** Versions, as far as the operator compares them. The definition only admits versions that this can parse. */

interface Version {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  readonly preview: string;
}

/** @returns undefined for text that is not a version, such as that of a development build */
function parseVersion(text: string): Version | undefined {
  const match = /^(\d+)\.(\d+)\.(\d+)(?:-(.+))?$/.exec(text);
  return match === null
    ? undefined
    : { major: Number(match[1]), minor: Number(match[2]), patch: Number(match[3]), preview: match[4] ?? "" };
}

/** @returns whether the two versions are more than one minor version apart, and must not run in one cluster */
export function isSkewed(first: string, second: string): boolean {
  const [a, b] = [parseVersion(first), parseVersion(second)];
  return a !== undefined && b !== undefined && (a.major !== b.major || Math.abs(a.minor - b.minor) > 1);
}

/** Less than 0 if the first is older; a pre-release is older than its release. 0 if one of them is not a version. */
export function compareVersions(first: string, second: string): number {
  const [a, b] = [parseVersion(first), parseVersion(second)];
  if (a === undefined || b === undefined) {
    return 0;
  }
  const byNumber = a.major - b.major || a.minor - b.minor || a.patch - b.patch;
  return byNumber || comparePreviews(a.preview, b.preview);
}

function comparePreviews(a: string, b: string): number {
  if (a === b) {
    return 0;
  }
  if (a === "" || b === "") {
    return a === "" ? 1 : -1;
  }
  const [left, right] = [a.split("."), b.split(".")];
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const order = compareIdentifiers(left[at], right[at]);
    if (order !== 0) {
      return order;
    }
  }
  return 0;
}

/** Numbers before words, numbers by value, and missing identifiers first (Semantic Versioning 2.0, §11). */
function compareIdentifiers(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) {
    return a === b ? 0 : a === undefined ? -1 : 1;
  }
  const [isNumberA, isNumberB] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumberA && isNumberB) {
    return Number(a) - Number(b);
  }
  if (isNumberA !== isNumberB) {
    return isNumberA ? -1 : 1;
  }
  return a === b ? 0 : a < b ? -1 : 1;
}
