/**
 * Reads that use what the watches know, and so cost few requests. Objects that no watch covers, such as Secrets, are
 * read again at intervals.
 *
 * The cache also remembers refusals, so that a cluster at rest shows them at little cost: at first for two seconds, at
 * last for half a minute, for ten seconds if the refusal concerns a Secret, or for a minute if the kind is unknown.
 * Reads that bypass the cache (`fresh`) update it, so the next pass at rest finds the same.
 *
 * A cached read may be old: usually by moments, by minutes while the API server cannot be reached. It only serves to
 * find out whether there is something to do. Before a write, the caller must read again from the API server itself.
 */
import type { KubeClient } from "./client.ts";
import { isKubeError } from "./kube-error.ts";
import type { Reflector } from "./reflector.ts";
import { collectionPath, type Kind, objectPath, type Reference } from "./resources.ts";
import type { Timing } from "./timing.ts";
import type { KubeList, KubeObject } from "./wire.ts";

/** The reads of one observation. */
export type Reads = Pick<KubeClient, "get" | "list">;

/** The operator notices a changed or deleted Secret within this time. */
const SECRET_MS = 120_000;
/** For objects that change rarely and whose change is not urgent. */
const REST_MS = 600_000;

/** First pause before a refused read is retried; its cause may be gone soon. */
const REFUSED_FIRST_MS = 2_000;
const REFUSED_LAST_MS = 30_000;
/** Longest pause for a kind that the API server does not know: several are optional, in each namespace with a cluster. */
const UNKNOWN_KIND_LAST_MS = 60_000;
/** Longest pause for a Secret: without it, no pass is possible. */
const REFUSED_SECRET_LAST_MS = 10_000;

interface Answer {
  readonly untilMs: number;
  /** An object, or the error that its kind is unknown or forbidden. */
  readonly outcome: KubeObject | { readonly error: unknown };
  /** Number of refusals in a row. */
  readonly refusals: number;
}

/** @returns whether an error is a refusal, which is cached, rather than a failure to answer */
export function isRemembered(error: unknown): boolean {
  return isKubeError(error, "unknown-kind", "forbidden");
}

export class CachedReads implements Reads {
  readonly #client: KubeClient;
  readonly #reflectors: readonly Reflector[];
  readonly #timing: Timing;
  /** Reads from the API server itself, and updates the cache. */
  readonly fresh: Reads;
  /** By path; for an unknown kind, by the path of the kind. That an object is missing is not cached. */
  readonly #answers = new Map<string, Answer>();

  constructor(client: KubeClient, reflectors: readonly Reflector[], timing: Timing) {
    this.#client = client;
    this.#reflectors = reflectors;
    this.#timing = timing;
    this.fresh = {
      get: async <Item extends KubeObject>(reference: Reference) => {
        const isWatched = this.#reflectorOf(reference.kind, reference.namespace) !== undefined;
        return (await (isWatched ? client.get(reference) : this.#ask(reference))) as Item | null;
      },
      list: (kind, namespace, labelSelector) => client.list(kind, namespace, labelSelector),
    };
  }

  /** @throws KubeError */
  async get<Item extends KubeObject>(reference: Reference): Promise<Item | null> {
    const { kind, namespace, name } = reference;
    const reflector = this.#reflectorOf(kind, namespace);
    return reflector === undefined
      ? ((await this.#remembered(reference)) as Item | null)
      : ((reflector.find(namespace, name) ?? null) as Item | null);
  }

  /** @throws KubeError */
  async list<Item extends KubeObject>(kind: Kind, namespace: string, labelSelector: string): Promise<KubeList<Item>> {
    const reflector = this.#reflectorOf(kind, namespace);
    if (reflector === undefined) {
      return this.#client.list(kind, namespace, labelSelector);
    }
    const terms = labelSelector.split(",").map((term) => term.split("="));
    const items = reflector.items.filter(
      ({ metadata }) =>
        metadata?.namespace === namespace && terms.every(([label = "", value]) => metadata.labels?.[label] === value),
    );
    return { items: items as Item[] };
  }

  /** Drops one object, so that the next read goes to the API server. */
  forget(reference: Reference): void {
    this.#answers.delete(objectPath(reference));
  }

  /** Only a reflector that has listed everything can say that an object does not exist. */
  #reflectorOf(kind: Kind, namespace: string): Reflector | undefined {
    return this.#reflectors.find(
      (reflector) => reflector.kind === kind && reflector.synced && ["", namespace].includes(reflector.namespace),
    );
  }

  async #remembered(reference: Reference): Promise<KubeObject | null> {
    const nowMs = this.#timing.monotonicMs();
    for (const path of [kindPath(reference), objectPath(reference)]) {
      const before = this.#answers.get(path);
      if (before !== undefined && nowMs < before.untilMs) {
        return unpacked(before.outcome);
      }
    }
    return await this.#ask(reference);
  }

  async #ask(reference: Reference): Promise<KubeObject | null> {
    const path = objectPath(reference);
    const { kind } = reference;
    try {
      const found = await this.#client.get(reference);
      this.#answers.delete(kindPath(reference));
      if (found === null) {
        this.#answers.delete(path);
      } else {
        const untilMs = this.#timing.monotonicMs() + (kind === "Secret" ? SECRET_MS : REST_MS);
        this.#answers.set(path, { untilMs, outcome: found, refusals: 0 });
      }
      return found;
    } catch (error) {
      if (isKubeError(error, "unknown-kind")) {
        this.#refused(kindPath(reference), UNKNOWN_KIND_LAST_MS, error);
      } else if (isRemembered(error)) {
        this.#refused(path, kind === "Secret" ? REFUSED_SECRET_LAST_MS : REFUSED_LAST_MS, error);
      }
      throw error;
    }
  }

  #refused(path: string, lastMs: number, error: unknown): void {
    const refusals = (this.#answers.get(path)?.refusals ?? 0) + 1;
    const lifeMs = Math.min(lastMs, REFUSED_FIRST_MS * 2 ** (refusals - 1));
    this.#answers.set(path, { untilMs: this.#timing.monotonicMs() + lifeMs, outcome: { error }, refusals });
  }
}

function kindPath({ kind }: Reference): string {
  return collectionPath(kind, "");
}

function unpacked(outcome: Answer["outcome"]): KubeObject {
  if ("error" in outcome) {
    throw outcome.error;
  }
  return outcome;
}
