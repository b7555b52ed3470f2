/**
 * Counters under retries: the version of a key that clients only put counts the puts. It counts each acknowledged
 * request once, and each request of unknown outcome at most once. The number of attempts and the members that get them
 * make no difference. No two acknowledged requests have the same revision.
 */

/** A request with all of its attempts. An acknowledged one has the revision of its put. */
export type CountedRequest = { readonly requestId: string; readonly key: string } & (
  | { readonly outcome: "acknowledged"; readonly revision: number }
  | { readonly outcome: "not-executed" | "unknown" }
);

/** Returns the contradictions in words; empty if there are none. A missing key counts 0. */
export function exactlyOnceCheck(
  requests: readonly CountedRequest[],
  versions: ReadonlyMap<string, number>,
): readonly string[] {
  const wrong: string[] = [];
  const byKey = Map.groupBy(requests, ({ key }) => key);
  for (const key of new Set([...byKey.keys(), ...versions.keys()])) {
    const acknowledged = new Set<string>();
    const unknown = new Set<string>();
    for (const { requestId, outcome } of byKey.get(key) ?? []) {
      if (outcome === "acknowledged") {
        acknowledged.add(requestId);
      } else if (outcome === "unknown") {
        unknown.add(requestId);
      }
    }
    const most = acknowledged.union(unknown).size;
    const version = versions.get(key) ?? 0;
    if (version < acknowledged.size || version > most) {
      const expected = most === acknowledged.size ? `${most}` : `${acknowledged.size} to ${most}`;
      wrong.push(`${key}: the version, which counts the puts, is ${version} instead of ${expected}`);
    }
  }
  return [...wrong, ...sharedRevisions(requests)];
}

/** Revisions that more than one request got as its own, over all keys. */
function sharedRevisions(requests: readonly CountedRequest[]): readonly string[] {
  const wrong: string[] = [];
  const byRevision = new Map<number, string>();
  for (const request of requests) {
    if (request.outcome !== "acknowledged") {
      continue;
    }
    const { requestId, revision } = request;
    const other = byRevision.get(revision) ?? requestId;
    byRevision.set(revision, other);
    if (other !== requestId) {
      wrong.push(`revision ${revision} was returned to two requests, ${other} and ${requestId}`);
    }
  }
  return wrong;
}
