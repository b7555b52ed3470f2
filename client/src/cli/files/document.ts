/** Reads documents from files that people or other programs have written, and checks each field. */

import { UsageError } from "../errors/index.ts";

/** The fields of an object, by name: a Map, because some names are chosen by users (rule S19). */
export type Fields = ReadonlyMap<unknown, unknown>;

/** Takes fields from a document, and raises UsageError with the file's name for invalid fields. */
export class FieldReader {
  readonly #file: string;
  readonly #fields: Fields;

  constructor(file: string, fields: unknown) {
    if (!(fields instanceof Map)) {
      throw new UsageError(`${file} is invalid: an object is expected`);
    }
    this.#file = file;
    this.#fields = fields;
  }

  /** @throws UsageError for a field that is none of these: it may be a misspelt one, which would have no effect. */
  async requireKnown(known: readonly string[]): Promise<void> {
    const unknown = [...this.#fields.keys()].map(String).find((name) => !known.includes(name));
    if (unknown !== undefined) {
      const { unknownName } = await import("@quoin/proto");
      throw new UsageError(`${this.#file} is invalid: ${unknown} ${unknownName(unknown, "a context", known)}`);
    }
  }

  /** A non-empty text; undefined if absent. */
  text(name: string): string | undefined {
    const value = this.#fields.get(name);
    if (value === undefined || value === null) {
      return undefined;
    }
    if (typeof value !== "string" || value === "") {
      throw this.#wrong(name, "a text");
    }
    return value;
  }

  /** A list of texts; undefined if absent or empty. */
  texts(name: string): readonly string[] | undefined {
    const value = this.#fields.get(name);
    if (value === undefined || value === null) {
      return undefined;
    }
    if (!Array.isArray(value) || !value.every((item) => typeof item === "string")) {
      throw this.#wrong(name, "a list of texts");
    }
    return value.length === 0 ? undefined : value;
  }

  /** True or false; false if absent. */
  flag(name: string): boolean {
    const value = this.#fields.get(name) ?? false;
    if (typeof value !== "boolean") {
      throw this.#wrong(name, "true or false");
    }
    return value;
  }

  /** An object; undefined if absent. */
  object(name: string): Fields | undefined {
    const value = this.#fields.get(name);
    if (value === undefined || value === null) {
      return undefined;
    }
    if (!(value instanceof Map)) {
      throw this.#wrong(name, "an object");
    }
    return value;
  }

  #wrong(name: string, expected: string): UsageError {
    return new UsageError(`${this.#file} is invalid: ${name} must be ${expected}`);
  }
}
