/**
 * A token from a file that another program keeps current, as Kubernetes does. The file is read on first use, and again
 * when the service refuses the token.
 */

import { readFile } from "node:fs/promises";
import { QuoinError } from "../errors/index.ts";
import { isToken, type TokenSource } from "../transport/index.ts";

/** Reads the token from the first non-empty line of a file. */
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
    if (!isToken(token)) {
      throw noToken(`there is no bearer token in ${this.#file}`);
    }
    this.#token = token;
    return token;
  }

  async #content(): Promise<string> {
    try {
      return await readFile(this.#file, "utf8");
    } catch (error) {
      throw noToken(`the token file cannot be read: ${error instanceof Error ? error.message : String(error)}`, error);
    }
  }
}

function noToken(message: string, cause?: unknown): QuoinError {
  return new QuoinError({ code: "UNAUTHENTICATED", reason: "NO_TOKEN", message, cause });
}

function firstLine(content: string): string {
  return (
    content
      .split("\n")
      .map((line) => line.trim())
      .find((line) => line !== "") ?? ""
  );
}
