/**
 * Mail of the cluster, out of the logs of members that write mails there instead of sending them, as those of a cluster
 * with `npm start` do.
 */

import { readFileSync } from "node:fs";
import { until } from "./until.ts";

/** The token that asks for a verification stands in a line of its own. */
const TOKEN_LINE = /^ {4}(\S+)\r?$/m;

export class Mailbox {
  readonly #files: readonly string[];

  /** @param files logs of the members, a JSON object a line */
  constructor(files: readonly string[]) {
    this.#files = files;
  }

  /** Whether there is anything to read mail from. */
  get isThere(): boolean {
    return this.#files.length > 0;
  }

  /** The token in the newest mail to this address, once there is one. */
  tokenFor(address: string): Promise<string> {
    return until(`mail to ${address}`, () => {
      const text = this.#files.flatMap((file) => textsTo(file, address)).at(-1);
      return text === undefined ? null : TOKEN_LINE.exec(text)?.[1];
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
