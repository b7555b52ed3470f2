/**
 * A follower of a stream of server-sent events: the events so far, and whether the stream has ended for good.
 *
 * A member may end a stream at any time, for example because it hears no leader. As a client of the contract does, the
 * follower then opens another one behind the last event. It ends when that is refused.
 */

import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "./until.ts";

export interface SentEvent {
  readonly id: string;
  readonly data: string;
}

/** Opens the stream behind the event with this id; undefined = at its beginning. */
type Open = (lastId: string | undefined) => Promise<IncomingMessage>;

/** Refusals after which a client tries again. */
const PASSING: ReadonlySet<number | undefined> = new Set([429, 503]);
const RETRY_MS = 50;

export class HttpEvents {
  readonly events: SentEvent[] = [];
  readonly #open: Open;
  #response: IncomingMessage | null = null;
  #text = "";
  #hasEnded = false;
  #hasLeft = false;

  private constructor(open: Open) {
    this.#open = open;
  }

  static async open(open: Open): Promise<HttpEvents> {
    const events = new HttpEvents(open);
    events.#follow(await events.#answer());
    return events;
  }

  /** The newest answer. */
  get response(): IncomingMessage {
    if (this.#response === null) {
      throw new Error("the stream is not open");
    }
    return this.#response;
  }

  /** Waits for `count` events, and returns all events so far. Rejects if the stream ends before. */
  first(count: number): Promise<readonly SentEvent[]> {
    return until(`${count} events`, () => {
      if (this.#hasEnded && this.events.length < count) {
        throw new Error(`the stream ended after ${this.events.length} events, with ${this.response.statusCode}`);
      }
      return this.events.length >= count ? this.events : null;
    });
  }

  ended(): Promise<unknown> {
    return until("the end of the stream", () => this.#hasEnded);
  }

  leave(): void {
    this.#hasLeft = true;
    this.#response?.destroy();
  }

  #answer(): Promise<IncomingMessage> {
    return until("the stream to be open", async () => {
      const answer = await this.#open(this.events.at(-1)?.id);
      if (PASSING.has(answer.statusCode)) {
        answer.resume();
        return null;
      }
      return answer;
    });
  }

  #follow(response: IncomingMessage): void {
    this.#response = response;
    this.#text = "";
    if (response.statusCode !== 200) {
      this.#hasEnded = true;
      response.resume();
      return;
    }
    response.setEncoding("utf8");
    response.on("data", (text: string) => this.#parse(text));
    response.on("close", () => void this.#goOn());
    // A broken stream ends as well.
    response.on("error", () => undefined);
  }

  async #goOn(): Promise<void> {
    if (this.#hasLeft) {
      this.#hasEnded = true;
      return;
    }
    await sleep(RETRY_MS);
    try {
      this.#follow(await this.#answer());
    } catch {
      this.#hasEnded = true;
    }
    if (this.#hasLeft) {
      this.leave();
    }
  }

  #parse(text: string): void {
    this.#text += text;
    const blocks = this.#text.split("\n\n");
    this.#text = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = new Map(block.split("\n").map((line) => line.split(/: ?(.*)/s) as [string, string]));
      const [id, data] = [fields.get("id"), fields.get("data")];
      if (id !== undefined && data !== undefined) {
        this.events.push({ id, data });
      }
    }
  }
}
