/**
 * Counters under retries: a key that is only ever put counts its puts in its version. However often requests were sent,
 * and to whichever members, the counter shows each request once that was acknowledged, and those of unknown outcome once
 * or not at all. No two of those that were acknowledged have the same revision.
 */

/** A request, all attempts of it together. One that was acknowledged was told the revision of its put. */
export type CountedRequest = { readonly requestId: string; readonly key: string } & (
  | { readonly outcome: "acknowledged"; readonly revision: number }
  | { readonly outcome: "not-executed" | "unknown" }
);

/** What contradicts the counters, in words; empty if nothing does. A key that is not there counts 0. */
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

/** Revisions that were told to more than one request, whatever their keys. */
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
      wrong.push(`revision ${revision} was told to two requests, ${other} and ${requestId}`);
    }
  }
  return wrong;
}
