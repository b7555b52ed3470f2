/**
 * Writes events about objects: what happened, for people who run `kubectl describe`. In ten seconds it writes an event
 * only once, and for each object and reason at most a few with different notes; the next one carries the count. A failed
 * write goes to the log, and nothing waits for it.
 */
import { randomBytes } from "node:crypto";
import type { KubeClient } from "./client.ts";
import type { Timing } from "./timing.ts";

const QUIET_MS = 10_000;
/** As many notes of one reason are written in that time: one for each member of a cluster. */
const NOTES_MAX = 7;
/** Forgets reasons that were last recorded this long ago. */
const FORGET_MS = 600_000;
/** Limit of the API server, in characters. */
const NOTE_LENGTH_MAX = 1_024;

export interface EventSubject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
}

export interface EventContent {
  readonly type: "Normal" | "Warning";
  /** In CamelCase. */
  readonly reason: string;
  /** The operator's action, in CamelCase. */
  readonly action: string;
  readonly note: string;
}

interface RecorderOptions {
  readonly client: KubeClient;
  /** Name of this process's pod. */
  readonly instance: string;
  readonly onError: (error: unknown) => void;
  readonly timing: Timing;
}

export class Recorder {
  readonly #options: RecorderOptions;
  /** By object and reason, and then by note: when it was written last, and how many were not written since then. */
  readonly #recent = new Map<string, Map<string, { atMs: number; since: number }>>();
  readonly #writes = new Set<Promise<void>>();

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  record(regarding: EventSubject, content: EventContent): void {
    const nowMs = this.#options.timing.monotonicMs();
    this.#forget(nowMs);
    const key = `${regarding.uid} ${content.reason}`;
    const notes = this.#recent.get(key) ?? new Map<string, { atMs: number; since: number }>();
    this.#recent.set(key, notes);
    const fresh = [...notes.values()].filter(({ atMs }) => nowMs - atMs < QUIET_MS);
    const before = notes.get(content.note);
    const same = fresh.find((each) => each === before);
    const counting = same ?? (fresh.length < NOTES_MAX ? undefined : fresh[0]);
    if (counting !== undefined) {
      counting.since += 1;
      return;
    }
    notes.set(content.note, { atMs: nowMs, since: 0 });
    const write = this.#write(regarding, content, 1 + (before?.since ?? 0)).finally(() => this.#writes.delete(write));
    this.#writes.add(write);
  }

  #forget(nowMs: number): void {
    for (const [key, notes] of this.#recent) {
      for (const [note, { atMs }] of notes) {
        if (nowMs - atMs > FORGET_MS) {
          notes.delete(note);
        }
      }
      if (notes.size === 0) {
        this.#recent.delete(key);
      }
    }
  }

  /** Resolves when all recorded events are written or have failed. */
  async flush(): Promise<void> {
    await Promise.all(this.#writes);
  }

  async #write(regarding: EventSubject, { type, reason, action, note }: EventContent, count: number): Promise<void> {
    const { client, instance, onError } = this.#options;
    const now = new Date().toISOString().replace("Z", "000Z");
    const { namespace } = regarding;
    try {
      await client.create(
        { kind: "Event", namespace },
        {
          apiVersion: "events.k8s.io/v1",
          kind: "Event",
          metadata: { name: `${regarding.name}.${randomBytes(8).toString("hex")}`, namespace },
          eventTime: now,
          reportingController: "quoin.dev/operator",
          reportingInstance: instance,
          regarding,
          type,
          reason,
          action,
          note: note.slice(0, NOTE_LENGTH_MAX),
          // The API server requires a count of at least two in a series.
          ...(count < 2 ? {} : { series: { count, lastObservedTime: now } }),
        },
      );
    } catch (error) {
      onError(error);
    }
  }
}
