/** Finds the known name that a mistyped one most likely means. */

/** The most single changes, of letters, between a mistyped name and the intended one. */
const DISTANCE_MAX = 2;
/** The length from which the beginning of a name stands for it. */
const BEGINNING_MIN = 3;

/** The known name nearest to an unknown one, whatever the case and the separators; undefined = none is near. */
export function nearestName(unknown: string, known: Iterable<string>): string | undefined {
  const written = lettersOf(unknown);
  let nearest: string | undefined;
  let nearestDistance = DISTANCE_MAX + 1;
  for (const name of known) {
    const letters = lettersOf(name);
    const isBeginning = written.length >= BEGINNING_MIN && letters.startsWith(written);
    const distance = isBeginning ? 1 : distanceOf(written, letters);
    // Of a short name, two changes leave too little.
    if (distance < nearestDistance && distance < Math.max(2, written.length)) {
      nearest = name;
      nearestDistance = distance;
    }
  }
  return nearest;
}

function lettersOf(name: string): string {
  return name.replace(/[-_. ]/g, "").toLowerCase();
}

/** The number of inserted, removed, replaced or swapped letters; more than the maximum counts as one more than it. */
function distanceOf(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > DISTANCE_MAX) {
    return DISTANCE_MAX + 1;
  }
  let before: number[] = [];
  let previous = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      let cost = Math.min(previous[column]! + 1, current[column - 1]! + 1, previous[column - 1]! + (isSame ? 0 : 1));
      const isSwap = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (isSwap) {
        cost = Math.min(cost, before[column - 2]! + 1);
      }
      current.push(cost);
    }
    before = previous;
    previous = current;
  }
  return previous[other.length]!;
}
