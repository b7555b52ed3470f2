/**
 * Keeps a copy of all objects of one kind, and calls back for every change: a list, then a watch from there. Whatever
 * ends the watch, it begins again.
 *
 * A callback says which object changed, not its new content: before it acts, the receiver reads the object again. The
 * copy serves only to find out whether there is something to do. The reflector also reports objects that vanished
 * between two watches. Only `stop` ends it.
 */
import type { KubeClient } from "./client.ts";
import { isKubeError, KubeError } from "./kube-error.ts";
import type { Kind } from "./resources.ts";
import { backoffMs, type Timing } from "./timing.ts";
import type { KubeObject } from "./wire.ts";

const BACKOFF_FIRST_MS = 1_000;
const BACKOFF_LAST_MS = 30_000;
/** A watch that lived this long counts as successful. */
const GOOD_LIFE_MS = 60_000;
/** Jittered, so that not all watches of an operator end at once. */
const WATCH_SECONDS_MIN = 240;
const WATCH_SECONDS_SPREAD = 60;
/**
 * A watch without a line for this long is replaced by another. Bookmarks come each minute, but only if something has
 * changed since the API server started. So silence does not mean a lost connection, but only another watch can tell.
 */
const WATCH_SILENCE_MS = 90_000;
/** How often the reflector reports all objects again. */
const RESYNC_MS = 600_000;

type Metadata = NonNullable<KubeObject["metadata"]>;

interface Known {
  readonly object: KubeObject;
  /** The metadata that callbacks get. */
  readonly notified: Metadata;
  /** A text that differs if anything except the status differs; empty if that is not needed. */
  readonly asked: string;
}

export interface ReflectorOptions {
  readonly client: KubeClient;
  readonly kind: Kind;
  /** Empty = all. */
  readonly namespace: string;
  /** Empty = all. */
  readonly labelSelector: string;
  /** Whether to ignore changes of the status alone. The receiver itself writes the status. */
  readonly ignoresStatus: boolean;
  /** Called when an object is new, different or gone, or is due for another look. Must not throw. */
  readonly onChange: (metadata: Metadata) => void;
  readonly onError: (error: unknown) => void;
  readonly timing: Timing;
}

export class Reflector {
  readonly kind: Kind;
  readonly #options: ReflectorOptions;
  readonly #stopping = new AbortController();
  /** State after the last list and the events since then, by namespace and name. */
  readonly #known = new Map<string, Known>();
  #resourceVersion = "";
  #running: Promise<void> | null = null;
  #synced = false;
  #refusal: string | null = null;
  #lastSignMs: number;
  #lastResyncMs: number;

  constructor(options: ReflectorOptions) {
    this.#options = options;
    this.kind = options.kind;
    this.#lastSignMs = options.timing.monotonicMs();
    this.#lastResyncMs = this.#lastSignMs;
  }

  /** Whether everything has been listed once. */
  get synced(): boolean {
    return this.#synced;
  }

  /** Why the API server refused the last request; null if it did not. */
  get refusal(): string | null {
    return this.#refusal;
  }

  /** Empty = all. */
  get namespace(): string {
    return this.#options.namespace;
  }

  /** The objects at the last answer of the API server. The caller must not change them. */
  get items(): readonly KubeObject[] {
    return [...this.#known.values()].map(({ object }) => object);
  }

  /** One of the objects. The caller must not change it. */
  find(namespace: string, name: string): KubeObject | undefined {
    return this.#known.get(keyOf({ namespace, name }))?.object;
  }

  /** Milliseconds since the API server last sent anything. */
  get ageMs(): number {
    return this.#options.timing.monotonicMs() - this.#lastSignMs;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Resolves when no callback will follow. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { timing, onError } = this.#options;
    const { signal } = this.#stopping;
    let failures = 0;
    while (!signal.aborted) {
      const startMs = timing.monotonicMs();
      try {
        await this.#listAndWatch();
      } catch (error) {
        if (signal.aborted) {
          return;
        }
        if (isKubeError(error, "gone")) {
          this.#resourceVersion = "";
        }
        this.#refusal = isKubeError(error, "forbidden") ? error.message : null;
        onError(error);
      }
      failures = timing.monotonicMs() - startMs >= GOOD_LIFE_MS ? 1 : failures + 1;
      await timing.sleep(backoffMs(failures, BACKOFF_FIRST_MS, BACKOFF_LAST_MS, timing.random()), signal);
    }
  }

  async #listAndWatch(): Promise<void> {
    const { client, kind, namespace, labelSelector, timing } = this.#options;
    if (this.#resourceVersion === "") {
      await this.#list();
    }
    const durationSeconds = WATCH_SECONDS_MIN + Math.floor(timing.random() * WATCH_SECONDS_SPREAD);
    const watched = { labelSelector, resourceVersion: this.#resourceVersion };
    const selection = { ...watched, durationSeconds, silenceMs: WATCH_SILENCE_MS };
    const watch = await client.watch(kind, namespace, selection, this.#stopping.signal);
    this.#onEvent();
    for await (const { type, object } of watch) {
      if (type === "ERROR") {
        // From here on, changes may have been missed, whatever the error is.
        this.#resourceVersion = "";
        const { code = 0, message = "" } = object;
        throw new KubeError({
          kind: code === 410 ? "gone" : "unavailable",
          status: code,
          message: `watch: ${message}`,
        });
      }
      const { metadata = {} } = object;
      this.#resourceVersion = metadata.resourceVersion ?? this.#resourceVersion;
      if (type !== "BOOKMARK") {
        if (this.#remember(object, type !== "DELETED")) {
          this.#options.onChange(metadata);
        }
      }
      this.#onEvent();
    }
  }

  async #list(): Promise<void> {
    const { client, kind, namespace, labelSelector, onChange, timing } = this.#options;
    const { items, metadata } = await client.list(kind, namespace, labelSelector);
    this.#lastSignMs = timing.monotonicMs();
    this.#lastResyncMs = this.#lastSignMs;
    const before = new Map(this.#known);
    this.#known.clear();
    for (const item of items) {
      this.#remember(item, true);
      before.delete(keyOf(item.metadata ?? {}));
    }
    this.#resourceVersion = metadata?.resourceVersion ?? "";
    this.#synced = true;
    for (const { notified: told } of [...this.#known.values(), ...before.values()]) {
      onChange(told);
    }
  }

  /** @returns whether to report the change */
  #remember(object: KubeObject, isThere: boolean): boolean {
    const { metadata = {} } = object;
    const key = keyOf(metadata);
    const before = this.#known.get(key);
    if (!isThere) {
      this.#known.delete(key);
      return true;
    }
    const { name, namespace, labels } = metadata;
    const told = {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels === undefined ? {} : { labels }),
    };
    const asked = this.#options.ignoresStatus ? askedOf(metadata) : "";
    this.#known.set(key, { object, notified: told, asked });
    return asked === "" || asked !== before?.asked;
  }

  /** Called for every sign of life, at least every few minutes; also triggers the periodic report of all objects. */
  #onEvent(): void {
    const nowMs = this.#options.timing.monotonicMs();
    this.#lastSignMs = nowMs;
    this.#refusal = null;
    if (nowMs - this.#lastResyncMs >= RESYNC_MS) {
      this.#lastResyncMs = nowMs;
      for (const { notified: told } of this.#known.values()) {
        this.#options.onChange(told);
      }
    }
  }
}

/** The API server changes `generation` with everything outside of the metadata and the status. */
function askedOf({ resourceVersion: _version, managedFields: _managers, ...rest }: Metadata): string {
  return JSON.stringify(rest);
}

function keyOf({ namespace = "", name = "" }: Metadata): string {
  return `${namespace}/${name}`;
}
