/** The difference of two texts, line by line, for the history of a key. */

/** A line of either text, or of both. */
export interface DifferenceLine {
  readonly kind: "same" | "removed" | "added";
  readonly text: string;
}

/** Above this number of cells the table would cost noticeable time and memory. */
const CELLS_MAX = 1_000_000;

/**
 * Returns the lines of both texts in order, with as few removed and added lines as possible. For very long texts, the
 * changed middle is shown as removed and added as a whole.
 */
export function lineDifference(before: string, after: string): DifferenceLine[] {
  const [old, fresh] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) {
    start++;
  }
  let end = 0;
  while (end < old.length - start && end < fresh.length - start && old.at(-1 - end) === fresh.at(-1 - end)) {
    end++;
  }
  return [
    ...lines("same", old.slice(0, start)),
    ...middleDifference(old.slice(start, old.length - end), fresh.slice(start, fresh.length - end)),
    ...lines("same", old.slice(old.length - end)),
  ];
}

/** By the longest common subsequence. */
function middleDifference(old: readonly string[], fresh: readonly string[]): DifferenceLine[] {
  if (old.length * fresh.length > CELLS_MAX) {
    return [...lines("removed", old), ...lines("added", fresh)];
  }
  const width = fresh.length + 1;
  // At (i, j): the length of the longest common subsequence of what follows in both.
  const lengths = new Uint32Array((old.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      lengths[i * width + j] = old[i] === fresh[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const result: DifferenceLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length && j < fresh.length) {
    if (old[i] === fresh[j]) {
      result.push({ kind: "same", text: old[i] ?? "" });
      [i, j] = [i + 1, j + 1];
    } else if (at(i + 1, j) >= at(i, j + 1)) {
      result.push({ kind: "removed", text: old[i++] ?? "" });
    } else {
      result.push({ kind: "added", text: fresh[j++] ?? "" });
    }
  }
  return [...result, ...lines("removed", old.slice(i)), ...lines("added", fresh.slice(j))];
}

function lines(kind: DifferenceLine["kind"], texts: readonly string[]): DifferenceLine[] {
  return texts.map((text) => ({ kind, text }));
}
