/**
 * The objects of an API server in memory: versions, preconditions, patches, and server-side apply in the simple form
 * that the operator needs (lists are replaced whole). Also deletion in two stages, and the history for watches.
 */
import { createHash, randomUUID } from "node:crypto";
import { withDefaults } from "./defaults.ts";
import { type Any, copyOf, isTree } from "./tree.ts";

/** An object as it was written. It never changes: a later write puts another one in its place. */
export interface Stored {
  readonly [field: string]: Any;
  metadata: Any;
}

export interface Change {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly version: number;
  readonly plural: string;
  readonly object: Stored;
}

export class Refused extends Error {
  readonly status: number;
  readonly reason: string;
  readonly headers: Record<string, string>;

  constructor(status: number, reason: string, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.headers = headers;
  }
}

/** Kinds whose deletion needs a second stage: the kubelet removes pods, and claims go once no pod uses them. */
const LINGERING: ReadonlySet<string> = new Set(["pods", "persistentvolumeclaims"]);

export class Store {
  readonly #now: () => number;
  /** By plural, then by namespace and name. */
  readonly #objects = new Map<string, Map<string, Stored>>();
  readonly #uids = new Set<string>();
  /** The last apply of each manager, by object and manager. */
  readonly #applied = new Map<string, Any>();
  readonly history: Change[] = [];
  /** Watches cannot start before this version. */
  oldest = 0;
  version = 100;
  onChange: (change: Change) => void = () => {};

  constructor(now: () => number) {
    this.#now = now;
  }

  get time(): string {
    return new Date(this.#now()).toISOString().replace(/\.\d+Z$/, "Z");
  }

  find(plural: string, namespace: string, name: string): Stored | undefined {
    return this.#objects.get(plural)?.get(`${namespace}/${name}`);
  }

  get(plural: string, namespace: string, name: string): Stored {
    const found = this.find(plural, namespace, name);
    if (found === undefined) {
      throw new Refused(404, "NotFound", `${plural} "${name}" not found`);
    }
    return found;
  }

  list(plural: string, namespace = "", labels: Record<string, string | undefined> = {}): Stored[] {
    return [...(this.#objects.get(plural)?.values() ?? [])].filter(
      (object) => (namespace === "" || object.metadata.namespace === namespace) && matches(object, labels),
    );
  }

  create(plural: string, namespace: string, body: Any, field = ""): Stored {
    const name = String(body.metadata?.name ?? "");
    if (this.find(plural, namespace, name) !== undefined) {
      throw new Refused(409, "AlreadyExists", `${plural} "${name}" already exists`);
    }
    if (body.metadata?.uid !== undefined) {
      throw new Refused(409, "Conflict", "uid mismatch: the object must exist");
    }
    const object: Stored = copyOf(body);
    delete object.metadata.resourceVersion;
    object.metadata = {
      ...object.metadata,
      ...(namespace === "" ? {} : { namespace }),
      uid: randomUUID(),
      creationTimestamp: this.time,
      generation: 1,
    };
    withDefaults(plural, object);
    if (field !== "") {
      this.#applied.set(`${keyOf(plural, namespace, name)} ${field}`, copyOf(body));
    }
    return this.#write(plural, object, "ADDED");
  }

  /** @param change changes a copy of the object */
  update(plural: string, object: Stored, change: (copy: Any) => void): Stored {
    const copy = copyOf(object);
    change(copy);
    withDefaults(plural, copy);
    if (JSON.stringify(copy) === textOf(object)) {
      return object;
    }
    if (JSON.stringify(copy.spec) !== JSON.stringify(object.spec)) {
      copy.metadata.generation += 1;
    }
    return this.#write(plural, copy, "MODIFIED");
  }

  merge(plural: string, object: Stored, patch: Any): Stored {
    requireSame(object, patch.metadata);
    return this.update(plural, object, (copy) => {
      mergeInto(copy, withoutPreconditions(patch));
    });
  }

  /** RFC 6902, as far as the operator uses it: values at paths of names, without lists. */
  replace(plural: string, object: Stored, operations: readonly Any[], dryRun: boolean): Stored {
    const change = (copy: Any): void => {
      for (const { op, path, value } of operations) {
        const names = path.split("/").slice(1);
        const parent = names.slice(0, -1).reduce((tree: Any, name: string) => tree[name], copy);
        if (op === "remove") {
          delete parent[names.at(-1)];
        } else {
          parent[names.at(-1)] = copyOf(value);
        }
      }
    };
    const changed = copyOf(object);
    change(changed);
    requireSame(object, changed.metadata);
    if (dryRun) {
      withDefaults(plural, changed);
      return changed;
    }
    return this.update(plural, object, change);
  }

  /** @param part empty, or `status` */
  apply(plural: string, namespace: string, body: Any, { manager, part, dryRun }: ApplyOptions): Stored {
    const name = String(body.metadata?.name);
    const present = this.find(plural, namespace, name);
    const field = `${manager}${part === "" ? "" : `/${part}`}`;
    if (dryRun) {
      return present ?? body;
    }
    if (present === undefined) {
      if (body.metadata?.resourceVersion !== undefined) {
        throw new Refused(409, "Conflict", "the object is not there");
      }
      return this.create(plural, namespace, body, field);
    }
    requireSame(present, body.metadata);
    const key = `${keyOf(plural, namespace, name)} ${field}`;
    const wanted = part === "" ? withoutPreconditions(body) : { [part]: body[part] };
    const before = this.#applied.get(key) ?? {};
    this.#applied.set(key, copyOf(wanted));
    return this.update(plural, present, (copy) => {
      removeGone(copy, before, wanted);
      mergeApplied(copy, wanted);
    });
  }

  /** The first stage of deletion; also the second, for objects that have none of their own. */
  remove(plural: string, object: Stored, preconditions: Any = {}): void {
    requireSame(object, preconditions);
    if (LINGERING.has(plural)) {
      this.update(plural, object, (copy) => {
        copy.metadata.deletionTimestamp ??= this.time;
      });
    } else {
      this.drop(plural, object);
    }
  }

  drop(plural: string, object: Stored): void {
    const { namespace = "", name } = object.metadata;
    this.#objects.get(plural)?.delete(`${namespace}/${name}`);
    this.#uids.delete(object.metadata.uid);
    const key = keyOf(plural, namespace, name);
    for (const applied of [...this.#applied.keys()].filter((each) => each.startsWith(`${key} `))) {
      this.#applied.delete(applied);
    }
    this.#notify(
      plural,
      { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.version) } },
      "DELETED",
    );
  }

  /** Objects of all kinds that have owners, with their plurals. */
  owned(): [plural: string, object: Stored][] {
    return [...this.#objects].flatMap(([plural, objects]) =>
      [...objects.values()]
        .filter(({ metadata }) => (metadata.ownerReferences ?? []).length > 0)
        .map((object): [string, Stored] => [plural, object]),
    );
  }

  has(uid: string): boolean {
    return this.#uids.has(uid);
  }

  #write(plural: string, object: Stored, type: "ADDED" | "MODIFIED"): Stored {
    if (
      plural === "poddisruptionbudgets" &&
      object.spec.minAvailable !== undefined &&
      object.spec.maxUnavailable !== undefined
    ) {
      throw new Refused(422, "Invalid", "minAvailable and maxUnavailable cannot be both set");
    }
    object.metadata.resourceVersion = String(++this.version);
    const { namespace = "", name, uid } = object.metadata;
    const objects = this.#objects.get(plural) ?? new Map<string, Stored>();
    this.#objects.set(plural, objects.set(`${namespace}/${name}`, object));
    this.#uids.add(uid);
    this.#notify(plural, object, type);
    return object;
  }

  #notify(plural: string, object: Stored, type: Change["type"]): void {
    const change = { type, version: this.version, plural, object };
    this.history.push(change);
    this.onChange(change);
  }
}

interface ApplyOptions {
  readonly manager: string;
  readonly part: "" | "status";
  readonly dryRun: boolean;
}

/** Texts of stored objects, which are read much more often than written. */
const texts = new WeakMap<Stored, string>();

/** The object in JSON. */
export function textOf(object: Stored): string {
  const text = texts.get(object) ?? JSON.stringify(object);
  texts.set(object, text);
  return text;
}

const listedTexts = new WeakMap<object, string>();
/** Kinds of definitions, whose objects an API server does not know as its own. */
const DEFINED = /^(?:quoin\.dev|cert-manager\.io|monitoring\.coreos\.com)\//;

/** The object as an item of a list: there, an object of the API server's own kinds has neither version nor kind. */
export function listedTextOf(object: Stored): string {
  const { apiVersion, kind, ...rest } = object;
  if (typeof apiVersion === "string" && DEFINED.test(apiVersion)) {
    return textOf(object);
  }
  const text = listedTexts.get(object) ?? JSON.stringify(rest);
  listedTexts.set(object, text);
  return text;
}

const revisions = new WeakMap<object, string>();

/** The same text for the same template of a stored object, whatever the order of its fields. */
export function revisionOf(template: Any): string {
  const known = revisions.get(template);
  if (known !== undefined) {
    return known;
  }
  const sorted = JSON.stringify(template, (_, value: unknown) =>
    isTree(value) ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) : value,
  );
  const revision = createHash("sha256").update(sorted).digest("hex").slice(0, 10);
  revisions.set(template, revision);
  return revision;
}

/** @param labels undefined stands for any value */
export function matches({ metadata }: Stored, labels: Record<string, string | undefined>): boolean {
  return Object.entries(labels).every(
    ([name, value]) => name in (metadata.labels ?? {}) && (value === undefined || metadata.labels[name] === value),
  );
}

function keyOf(plural: string, namespace: string, name: string): string {
  return `${plural}/${namespace}/${name}`;
}

/** As the API server does: fields that a write names must match the existing object. */
function requireSame({ metadata }: Stored, named: Any): void {
  for (const field of ["uid", "resourceVersion"]) {
    if (named?.[field] !== undefined && named[field] !== metadata[field]) {
      throw new Refused(409, "Conflict", `${field} is ${metadata[field]}, not ${named[field]}`);
    }
  }
}

function withoutPreconditions(body: Any): Any {
  const { uid: _uid, resourceVersion: _resourceVersion, ...metadata } = body.metadata ?? {};
  const { status: _status, ...rest } = body;
  return { ...rest, metadata };
}

/** RFC 7396. */
function mergeInto(target: Any, patch: Any): void {
  for (const [name, value] of Object.entries<Any>(patch)) {
    if (value === null) {
      delete target[name];
    } else if (isTree(value)) {
      target[name] = isTree(target[name]) ? target[name] : {};
      mergeInto(target[name], value);
    } else {
      target[name] = value;
    }
  }
}

function mergeApplied(target: Any, wanted: Any): void {
  for (const [name, value] of Object.entries<Any>(wanted)) {
    if (isTree(value) && isTree(target[name])) {
      mergeApplied(target[name], value);
    } else {
      target[name] = copyOf(value);
    }
  }
}

/** Removes fields that the manager applied before and applies no longer. */
function removeGone(target: Any, before: Any, wanted: Any): void {
  for (const [name, value] of Object.entries<Any>(before)) {
    if (wanted[name] === undefined) {
      delete target[name];
    } else if (isTree(value) && isTree(wanted[name]) && isTree(target[name])) {
      removeGone(target[name], value, wanted[name]);
    }
  }
}
