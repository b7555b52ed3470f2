/**
 * Merges the user's PodSpec into that of a member. Maps merge by key; containers, volumes and environment variables by
 * name; mounts by path. Other lists replace. Parts that a member depends on cannot be changed.
 */

type Tree = { readonly [key: string]: unknown };

/** Lists whose items are identified by a field. */
const KEYS: ReadonlyMap<string, string> = new Map([
  ["containers", "name"],
  ["initContainers", "name"],
  ["volumes", "name"],
  ["env", "name"],
  ["volumeMounts", "mountPath"],
]);
const MEMBER = "quoin";
const PROTECTED_OF_POD = ["serviceAccountName", "serviceAccount", "restartPolicy", "automountServiceAccountToken"];
const PROTECTED_OF_MEMBER = [
  "command",
  "args",
  "ports",
  "startupProbe",
  "livenessProbe",
  "readinessProbe",
  "image",
  "lifecycle",
];
/**
 * A leader hands over within 5 s, lingers for 2.5 s, ends gRPC and HTTP calls within 10 s each, and closes its stores.
 */
export const GRACE_SECONDS = 40;

/** An overlay changes a part that a member depends on. */
export class OverlayError extends Error {
  override readonly name = "OverlayError";
}

/** @throws OverlayError */
export function overlay<Base extends object>(base: Base, over: Tree): Base {
  refuse(base as Tree, over);
  return merge(base as Tree, over) as Base;
}

function refuse(base: Tree, over: Tree): void {
  for (const field of PROTECTED_OF_POD.filter((name) => name in over)) {
    throw new OverlayError(`spec.podTemplate.spec.${field} belongs to the operator`);
  }
  const grace = over.terminationGracePeriodSeconds;
  if (grace !== undefined && !(typeof grace === "number" && grace >= GRACE_SECONDS)) {
    throw new OverlayError(`spec.podTemplate.spec.terminationGracePeriodSeconds must be at least ${GRACE_SECONDS}`);
  }
  // The data volume comes from the claim, so no list contains it.
  const volumes = { volumes: [...itemsOf(base, "volumes"), { name: "data" }] };
  refuseSame(volumes, over, "volumes", "name", "spec.podTemplate.spec.volumes");
  const member = itemsOf(over, "containers").find((container) => container.name === MEMBER);
  const own = itemsOf(base, "containers").find((container) => container.name === MEMBER) ?? {};
  for (const field of PROTECTED_OF_MEMBER.filter((name) => member !== undefined && name in member)) {
    throw new OverlayError(`spec.podTemplate.spec.containers[${MEMBER}].${field} belongs to the operator`);
  }
  refuseSame(own, member ?? {}, "env", "name", `spec.podTemplate.spec.containers[${MEMBER}].env`);
  refuseSame(
    own,
    member ?? {},
    "volumeMounts",
    "mountPath",
    `spec.podTemplate.spec.containers[${MEMBER}].volumeMounts`,
  );
}

/** Refuses items that are in both lists. */
function refuseSame(base: Tree, over: Tree, list: string, key: string, at: string): void {
  const taken = new Set(itemsOf(base, list).map((item) => item[key]));
  const same = itemsOf(over, list).find((item) => taken.has(item[key]));
  if (same !== undefined) {
    throw new OverlayError(`${at}[${String(same[key])}] belongs to the operator`);
  }
}

function merge(base: Tree, over: Tree): Tree {
  const merged: Record<string, unknown> = { ...base };
  for (const [name, value] of Object.entries(over)) {
    const present = merged[name];
    const key = KEYS.get(name);
    if (key !== undefined && Array.isArray(present) && Array.isArray(value)) {
      merged[name] = mergeLists(present, value, key);
    } else {
      merged[name] = isTree(present) && isTree(value) ? merge(present, value) : value;
    }
  }
  return merged;
}

function mergeLists(base: readonly Tree[], over: readonly Tree[], key: string): readonly Tree[] {
  const changed = base.map((item) => {
    const change = over.find((candidate) => candidate[key] === item[key]);
    return change === undefined ? item : merge(item, change);
  });
  const added = over.filter((item) => !base.some((candidate) => candidate[key] === item[key]));
  return [...changed, ...added];
}

function itemsOf(tree: Tree, list: string): readonly Tree[] {
  const items = tree[list];
  if (items !== undefined && !(Array.isArray(items) && items.every(isTree))) {
    throw new OverlayError(`spec.podTemplate.spec: ${list} must be a list of objects`);
  }
  return items ?? [];
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
