/**
 * Revisions and time: an operation that begins after an answer gets no earlier revision, and makes its own change at a
 * greater one. No two changes have the same revision. That holds over all primitives together, whatever the requests
 * were.
 */

/** An answer with a revision. */
export interface RevisionAnswer {
  /** The operation, for people. */
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  /** The revision at which the answer is true. */
  readonly revision: number;
  /** The revision of the operation's own change; null = it changed nothing. */
  readonly own: number | null;
}

/** Returns the contradictions to the order of time in words; empty if there are none. */
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
