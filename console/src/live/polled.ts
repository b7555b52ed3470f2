/** Data that a view loads, and loads again at intervals while a person can see it. */

import { type ReadonlySignal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { ApiError } from "../api/index.ts";
import { isVisible } from "./visibility.ts";

/** What is known at a time. After a failure the last value stays. */
export interface Loaded<Value> {
  readonly value: Value | undefined;
  /** Why the latest attempt failed. */
  readonly error: ApiError | undefined;
  /** When the value arrived, Unix time in milliseconds. */
  readonly atMs: number;
}

export interface Polled<Value> {
  readonly loaded: ReadonlySignal<Loaded<Value>>;
  /** Loads again now, after a change. */
  readonly refresh: () => Promise<void>;
  /** Loads again in a moment, because something may have changed. Many calls in a moment load only once. */
  readonly refreshSoon: () => void;
}

/** Loads a value. `isBackground`: no person waits for it, so it may be a moment old. */
export type Load<Value> = (signal: AbortSignal, isBackground: boolean) => Promise<Value>;

/** A key may change a thousand times a second; a person sees no more than this. */
const SOON_MS = 250;

class Poller<Value> implements Polled<Value> {
  readonly loaded = signal<Loaded<Value>>({ value: undefined, error: undefined, atMs: 0 });
  readonly #load: Load<Value>;
  readonly #intervalMs: number;
  readonly #isPaused: () => boolean;
  #ending = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #soon: ReturnType<typeof setTimeout> | undefined;
  #running = 0;

  /**
   * @param intervalMs from an answer to the next request; 0 = load only once.
   * @param isPaused whether the value must stay as it is for now.
   */
  constructor(load: Load<Value>, intervalMs: number, isPaused: () => boolean) {
    this.#load = load;
    this.#intervalMs = intervalMs;
    this.#isPaused = isPaused;
  }

  /** Begins to load. Returns a function that ends it. */
  start(): () => void {
    this.#ending = new AbortController();
    void this.#run(false);
    const unsubscribe = isVisible.subscribe((visible) => {
      const isStale = Date.now() - this.loaded.peek().atMs > this.#intervalMs;
      if (visible && isStale && this.#intervalMs > 0 && this.#running === 0) {
        this.#poll();
      }
    });
    return () => {
      unsubscribe();
      clearTimeout(this.#timer);
      clearTimeout(this.#soon);
      this.#ending.abort();
    };
  }

  refresh = (): Promise<void> => this.#run(false);

  refreshSoon = (): void => {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      void this.#run(false);
    }, SOON_MS);
  };

  async #run(isBackground: boolean): Promise<void> {
    clearTimeout(this.#timer);
    const { signal: ended } = this.#ending;
    this.#running++;
    try {
      const value = await this.#load(ended, isBackground);
      if (!ended.aborted) {
        this.loaded.value = { value, error: undefined, atMs: Date.now() };
      }
    } catch (error) {
      if (!ended.aborted) {
        if (!(error instanceof ApiError)) {
          throw error;
        }
        this.loaded.value = { ...this.loaded.peek(), error };
      }
    } finally {
      this.#running--;
      if (!ended.aborted && this.#intervalMs > 0) {
        this.#later();
      }
    }
  }

  #later(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#poll(), this.#intervalMs);
  }

  /** A hidden page polls again when it is shown. */
  #poll(): void {
    if (this.#isPaused()) {
      this.#later();
    } else if (isVisible.peek()) {
      void this.#run(true);
    }
  }
}

const NEVER = (): boolean => false;

/** Loads data for a view. When `dependencies` change, earlier data is forgotten and other data is loaded. */
export function usePolled<Value>(
  load: Load<Value>,
  intervalMs: number,
  dependencies: readonly unknown[],
  isPaused: () => boolean = NEVER,
): Polled<Value> {
  const poller = useMemo(() => new Poller(load, intervalMs, isPaused), [...dependencies]);
  useEffect(() => poller.start(), [poller]);
  return poller;
}
