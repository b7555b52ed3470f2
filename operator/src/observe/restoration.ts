/**
 * What others have changed in an object that the operator keeps as it is, and when it is put back.
 *
 * A server-side apply takes back what the operator wrote before. It leaves what others have added, and in a selector, in
 * rights or in a pod template an addition is as bad as a change. These parts are compared whole, and replaced whole.
 */
import { isKubeError, type Kind, type KubeClient, type KubeObject, type Part, type Reference } from "../kube/index.ts";
import type { Manifest } from "../render/index.ts";
import { APPLIED } from "./annotations.ts";
import { digestOf } from "./difference.ts";
import type { Memory } from "./memory.ts";
import { preconditionOf, type Wish, wishKey } from "./wish.ts";

/** Parts that hold nothing but what the operator wants. Of a set they also name what only the set's controller may have. */
const WHOLE: Partial<Record<Kind, readonly string[]>> = {
  Service: ["/spec/selector", "/spec/ports"],
  PodDisruptionBudget: ["/spec"],
  Role: ["/rules"],
  RoleBinding: ["/subjects"],
  NetworkPolicy: ["/spec"],
  Certificate: ["/spec"],
  PodMonitor: ["/spec"],
  PrometheusRule: ["/spec"],
};
/** So many changes are undone at once. Each further change stays for twice as long as the one before. */
const AT_ONCE = 3;
const PAUSE_FIRST_MS = 5_000;
const PAUSE_LAST_MS = 600_000;
const FORGET_MS = 1_800_000;

/** Raises KubeError. */
export async function restorationOf(
  client: KubeClient,
  memory: Memory,
  reference: Reference,
  live: KubeObject,
  manifest: Manifest,
): Promise<Wish | null> {
  const parts = (WHOLE[reference.kind] ?? []).map((path) => wholeOf(path, live, manifest));
  const different = parts.filter(({ path, value }) => digestOf(at(live, path)) !== digestOf(value));
  const key = wishKey(reference);
  const pair = digestOf([different, different.map(({ path }) => at(live, path))]);
  if (different.length === 0 || memory.spelled.get(key) === pair) {
    return null;
  }
  const precondition = preconditionOf(live);
  try {
    const result = await client.replace(reference, precondition, different, { dryRun: true });
    if (different.every(({ path }) => digestOf(at(result, path)) === digestOf(at(live, path)))) {
      memory.spelled.set(key, pair);
      return null;
    }
  } catch (error) {
    // The write itself then says why it is refused, or that one must look again.
    if (!isKubeError(error, "conflict", "missing", "invalid", "forbidden", "terminating")) {
      throw error;
    }
  }
  return { how: "replace", reference, precondition, parts: different, undoes: undoneBy(live, manifest) };
}

/**
 * @returns what to tell when the wish has come true: who changed an object that nothing new is wanted of; null if it
 *   is the specification that has changed, or if there is no object
 */
export function undoneBy(live: KubeObject | null, manifest: Manifest): string | null {
  const wanted = manifest.metadata?.annotations?.[APPLIED];
  if (live === null || wanted === undefined || live.metadata?.annotations?.[APPLIED] !== wanted) {
    return null;
  }
  const others = (live.metadata.managedFields ?? []).filter(
    ({ manager = "", subresource = "" }) => !manager.startsWith("quoin-operator") && subresource === "",
  );
  const last = others.toSorted((a, b) => ((a.time ?? "") < (b.time ?? "") ? 1 : -1))[0];
  return `${manifest.kind} ${manifest.metadata?.name}${last?.manager === undefined ? "" : ` (by ${last.manager})`}`;
}

/** @returns whether it has just been undone so often that somebody insists */
export function isContested(memory: Memory, key: string, now: number): boolean {
  const { at: last, count } = memory.undone.get(key) ?? { at: Number.NEGATIVE_INFINITY, count: 0 };
  const pauseMs = count < AT_ONCE ? 0 : Math.min(PAUSE_LAST_MS, PAUSE_FIRST_MS * 2 ** (count - AT_ONCE));
  return now - last < pauseMs;
}

export function noteUndone(memory: Memory, key: string, now: number): void {
  const before = memory.undone.get(key);
  const isSeries = before !== undefined && now - before.at < FORGET_MS;
  memory.undone.set(key, { at: now, count: isSeries ? before.count + 1 : 1 });
}

/** Ports keep what the API server has given them, such as ports of nodes. */
function wholeOf(path: string, live: KubeObject, manifest: Manifest): Part {
  const value = at(manifest, path);
  if (path !== "/spec/ports") {
    return { path, value };
  }
  const [present, wanted] = [at(live, path), value].map((list) => (Array.isArray(list) ? (list as Port[]) : []));
  return {
    path,
    value: (wanted ?? []).map((port) => ({ ...present?.find((each) => each.name === port.name), ...port })),
  };
}

interface Port {
  readonly name?: string;
}

function at(object: object, path: string): unknown {
  return path
    .split("/")
    .slice(1)
    .reduce<unknown>((tree, name) => (tree as Record<string, unknown> | undefined)?.[name], object);
}
