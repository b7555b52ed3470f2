/**
 * Reads that cost no request where a watch has told already, and few elsewhere: what no watch tells of, such as Secrets, is
 * asked for once in a while.
 *
 * A refusal is remembered, too, so that a cluster at rest shows it and costs little: for two seconds at first, and at last
 * for half a minute, or for ten seconds if it is of a Secret. Whatever reads past the memory (`fresh`) corrects it, so the next look at rest finds the same.
 *
 * What is read here may be old, by moments as a rule, and by minutes while the API server cannot be reached. It is good for
 * finding out whether there is something to do. Whoever is to write reads it again from the API server itself.
 */
import type { KubeClient } from "./client.ts";
import { isKubeError } from "./kube-error.ts";
import type { Reflector } from "./reflector.ts";
import { collectionPath, type Kind, objectPath, type Reference } from "./resources.ts";
import type { Timing } from "./timing.ts";
import type { KubeList, KubeObject } from "./wire.ts";

/** What a look at a cluster reads with. */
export type Reads = Pick<KubeClient, "get" | "list">;

/** A Secret that somebody has changed or deleted is noticed after this long at most. */
const SECRET_MS = 120_000;
/** Of what changes rarely, and harms nobody when it is noticed late. */
const REST_MS = 600_000;

/** What is refused is soon asked for again: its cause may be gone. */
const REFUSED_FIRST_MS = 2_000;
const REFUSED_LAST_MS = 30_000;
/** Without a Secret there is no pass at all. */
const REFUSED_SECRET_LAST_MS = 10_000;

interface Answer {
  readonly untilMs: number;
  /** What it was: an object, or that its kind is not served or not allowed. */
  readonly outcome: KubeObject | { readonly error: unknown };
  /** Refusals in a row. */
  readonly refusals: number;
}

/** @returns whether an error is a refusal, which is remembered, and not a failure to answer */
export function isRemembered(error: unknown): boolean {
  return isKubeError(error, "unknown-kind", "forbidden");
}

export class CachedReads implements Reads {
  readonly #client: KubeClient;
  readonly #reflectors: readonly Reflector[];
  readonly #timing: Timing;
  /** Asks the API server itself, and remembers what it says. */
  readonly fresh: Reads;
  /** By path; of a kind that is not served, by the path of the kind. What is not there is not remembered. */
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

  /** Raises KubeError. */
  async get<Item extends KubeObject>(reference: Reference): Promise<Item | null> {
    const { kind, namespace, name } = reference;
    const reflector = this.#reflectorOf(kind, namespace);
    return reflector === undefined
      ? ((await this.#remembered(reference)) as Item | null)
      : ((reflector.find(namespace, name) ?? null) as Item | null);
  }

  /** Raises KubeError. */
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

  /** This one is asked for again. */
  forget(reference: Reference): void {
    this.#answers.delete(objectPath(reference));
  }

  /** Only one that has listed everything can say that something is not there. */
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
        this.#refused(kindPath(reference), REFUSED_LAST_MS, error);
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
