/**
 * Revisions and time: whatever was answered, an operation that began later is told no earlier revision, and has made its
 * own change at a greater one; no two changes have the same. That holds over all primitives together, and needs no
 * knowledge of what was asked for.
 */

/** An answer that told a revision. */
export interface RevisionAnswer {
  /** What was answered, for people. */
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  /** The revision at which the answer is true. */
  readonly revision: number;
  /** The revision that the operation has made by its change; null = it changed nothing. */
  readonly own: number | null;
}

/** What contradicts the order of time, in words; empty if nothing does. */
export function contradictionsOfOrder(answers: readonly RevisionAnswer[]): readonly string[] {
  const byStart = [...answers].sort((a, b) => a.startMs - b.startMs);
  const byEnd = [...answers].sort((a, b) => a.endMs - b.endMs);
  const makers = new Map<number, string>();
  const wrong: string[] = [];
  let ended = 0;
  let floor = { revision: 0, name: "nothing" };
  for (const { name, startMs, revision, own } of byStart) {
    for (let next = byEnd[ended]; next !== undefined && next.endMs < startMs; next = byEnd[ended]) {
      floor = next.revision > floor.revision ? next : floor;
      ended++;
    }
    const isBackwards = revision < floor.revision || (own !== null && own <= floor.revision);
    if (isBackwards) {
      const told = own ?? revision;
      wrong.push(
        `revisions never go backwards: ${name} is at ${told}; when it began, ${floor.revision} had been answered to ${floor.name}`,
      );
    }
    if (own === null) {
      continue;
    }
    if (own > revision) {
      wrong.push(`an answer is not older than its change: ${name} has made ${own} and was answered at ${revision}`);
    }
    const other = makers.get(own);
    makers.set(own, other ?? name);
    if (other !== undefined) {
      wrong.push(`a revision has one maker: ${own} was made by ${other} and by ${name}`);
    }
  }
  return wrong;
}
