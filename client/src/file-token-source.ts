/**
 * A token from a file that somebody else keeps current, as Kubernetes does. The file is read when a token is first needed,
 * and again when the service refuses it.
 */

import { readFile } from "node:fs/promises";
import { isToken } from "./bearer-token.ts";
import { QuoinError } from "./quoin-error.ts";
import { badField } from "./request-field.ts";
import type { TokenSource } from "./token-source.ts";

/** Reads the token from the first line of a file that is not empty. */
export class FileTokenSource implements TokenSource {
  readonly #file: string;
  #token: string | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  token(): string | Promise<string> {
    return this.#token ?? this.#read();
  }

  async refresh(refused: string): Promise<string | undefined> {
    const token = await this.#read();
    return token === refused ? undefined : token;
  }

  async #read(): Promise<string> {
    const token = firstLine(await this.#content());
    if (!isToken(token)) throw badField("credentials.tokenFile", `holds no bearer token: ${this.#file}`);
    this.#token = token;
    return token;
  }

  async #content(): Promise<string> {
    try {
      return await readFile(this.#file, "utf8");
    } catch (error) {
      throw new QuoinError({
        code: "UNAUTHENTICATED",
        reason: "NO_TOKEN",
        message: `the token file cannot be read: ${error instanceof Error ? error.message : String(error)}`,
        cause: error,
      });
    }
  }
}

function firstLine(content: string): string {
  return (
    content
      .split("\n")
      .map((line) => line.trim())
      .find((line) => line !== "") ?? ""
  );
}
