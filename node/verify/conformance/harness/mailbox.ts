/**
 * Mail of the cluster, from the logs of members that log mails instead of sending them, as in a cluster of `npm start`.
 */

import { readFileSync } from "node:fs";
import { until } from "./until.ts";

/** The token is in a line of its own. */
const TOKEN_LINE = /^ {4}(\S+)\r?$/m;

export class Mailbox {
  readonly #files: readonly string[];

  /** @param files logs of the members, a JSON object a line */
  constructor(files: readonly string[]) {
    this.#files = files;
  }

  /** Whether there are logs to read mail from. */
  get isThere(): boolean {
    return this.#files.length > 0;
  }

  /** Waits for a mail to this address, and returns the token in the newest one that does not have the token `before`. */
  tokenFor(address: string, before?: string): Promise<string> {
    return until(`mail to ${address}`, () => {
      const texts = this.#files.flatMap((file) => textsTo(file, address));
      return texts.map((text) => TOKEN_LINE.exec(text)?.[1]).findLast((token) => token !== before);
    });
  }
}

function textsTo(file: string, address: string): string[] {
  const texts: string[] = [];
  for (const line of readFileSync(file, "utf8").split("\n")) {
    if (line.includes(address)) {
      const { mail } = JSON.parse(line) as { readonly mail?: { readonly to: string; readonly text: string } };
      if (mail?.to === address) {
        texts.push(mail.text);
      }
    }
  }
  return texts;
}
