/** A stream of server-sent events: the events so far, and whether it has ended. */

import type { IncomingMessage } from "node:http";
import { until } from "./until.ts";

export interface SentEvent {
  readonly id: string;
  readonly data: string;
}

export class HttpEvents {
  readonly events: SentEvent[] = [];
  readonly response: IncomingMessage;
  #text = "";
  #hasEnded = false;

  constructor(response: IncomingMessage) {
    this.response = response;
    response.setEncoding("utf8");
    response.on("data", (text: string) => this.#parse(text));
    response.on("close", () => {
      this.#hasEnded = true;
    });
    // A broken stream ends as well.
    response.on("error", () => undefined);
  }

  /** Waits for `count` events, and returns all events so far. Rejects if the stream ends before. */
  first(count: number): Promise<readonly SentEvent[]> {
    return until(`${count} events`, () => {
      if (this.#hasEnded && this.events.length < count) {
        throw new Error(`the stream ended after ${this.events.length} events`);
      }
      return this.events.length >= count ? this.events : null;
    });
  }

  ended(): Promise<unknown> {
    return until("the end of the stream", () => this.#hasEnded);
  }

  leave(): void {
    this.response.destroy();
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
