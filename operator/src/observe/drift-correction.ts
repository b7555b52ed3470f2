/**
 * Finds what others have changed in objects that the operator keeps exact, and decides when to undo it.
 *
 * A server-side apply restores only fields that the operator wrote. It leaves fields that others added. In a selector,
 * in rights or in a pod template, an added field is as bad as a changed one. So these parts are compared and replaced
 * as a whole.
 */
import { isKubeError, type Kind, type KubeClient, type KubeObject, type Part, type Reference } from "../kube/index.ts";
import type { Manifest } from "../render/index.ts";
import { APPLIED } from "./annotations.ts";
import { type DesiredWrite, objectKey, preconditionOf } from "./desired-write.ts";
import { digestOf } from "./difference.ts";
import type { Memory } from "./memory.ts";

/** Parts that may contain only what the operator wants. For a set, also fields that only its controller may write. */
const WHOLE: Partial<Record<Kind, readonly string[]>> = {
  Service: ["/spec/selector", "/spec/ports", "/spec/externalIPs", "/spec/publishNotReadyAddresses"],
  PodDisruptionBudget: ["/spec"],
  Role: ["/rules"],
  RoleBinding: ["/subjects"],
  NetworkPolicy: ["/spec"],
  Certificate: ["/spec"],
  PodMonitor: ["/spec"],
  PrometheusRule: ["/spec"],
};
/** This many changes are undone at once. Each further change stays for twice as long as the one before. */
const AT_ONCE = 3;
const PAUSE_FIRST_MS = 5_000;
const PAUSE_LAST_MS = 600_000;
const FORGET_MS = 1_800_000;

/** @throws KubeError */
export async function driftCorrectionOf(
  client: KubeClient,
  memory: Memory,
  reference: Reference,
  live: KubeObject,
  manifest: Manifest,
): Promise<DesiredWrite | null> {
  const parts = (WHOLE[reference.kind] ?? []).map((path) => wholeOf(path, live, manifest));
  const different = parts.filter(({ path, value }) => digestOf(at(live, path)) !== digestOf(value));
  const key = objectKey(reference);
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
    // The write itself will show why it is refused, or that the pass must observe again.
    if (!isKubeError(error, "conflict", "missing", "invalid", "forbidden", "terminating")) {
      throw error;
    }
  }
  return { how: "replace", reference, precondition, parts: different, undoes: undoneBy(live, manifest) };
}

/**
 * @returns a text for people about the change that a write undoes: the object, and who changed it; null if the
 * specification has changed instead, or if there is no object
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

/** @returns whether so many changes were just undone that another writer seems to insist */
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

/** Keeps what the API server has assigned to ports, such as node ports. */
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
