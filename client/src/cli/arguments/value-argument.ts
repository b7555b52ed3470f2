/** Values from the command line: an argument, a text, a file, or the standard input. Bytes are unchanged. */

import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { UsageError } from "../errors/index.ts";
import { unusable } from "../files/index.ts";
import type { Terminal } from "../terminal/index.ts";
import { type OptionForm, option } from "./option-form.ts";

/** The largest value of a key; a larger input is not read to its end. */
const VALUE_BYTES_MAX = 1_024 * 1_024;

/** The source of a value, as given. */
export interface ValueArgument {
  /** The value itself; `-` = the standard input. */
  readonly argument: string | undefined;
  /** The value itself, whatever it is. */
  readonly text: string | undefined;
  /** Path of a file with the value. */
  readonly file: string | undefined;
}

/** For commands with a value: what they do not have to take from the standard input, even if it is `-`. */
export function textOption(what: string): OptionForm<string | undefined> {
  return option("<TEXT>", `take ${what} from this text, even if it is - or begins with it`);
}

/**
 * Reads a value. Without an argument, a text and a file it is the standard input, unless that is a terminal.
 *
 * @param maxBytes the largest allowed value; default: that of a key, 1 MiB.
 * @throws UsageError if there is no value, more than one, or one that is too large or cannot be read.
 */
export async function readValue(
  terminal: Pick<Terminal, "stdin">,
  value: ValueArgument,
  maxBytes = VALUE_BYTES_MAX,
): Promise<Uint8Array> {
  const { argument, text, file } = value;
  if ([argument, text, file].filter((given) => given !== undefined).length > 1) {
    throw new UsageError("a value, --text and --file exclude each other");
  }
  if (file !== undefined) {
    return readFileValue(file, maxBytes);
  }
  const given = text ?? (argument === "-" ? undefined : argument);
  if (given !== undefined) {
    return Buffer.from(given);
  }
  if (argument === undefined && terminal.stdin.isTTY === true) {
    throw new UsageError(
      "there is no value",
      "give it as an argument, with --text or --file, or on the standard input",
    );
  }
  return readAll(terminal.stdin, "the standard input", maxBytes);
}

/**
 * Reads a value from a file.
 *
 * @param maxBytes like readValue.
 * @throws UsageError if it is too large or cannot be read.
 */
export async function readFileValue(file: string, maxBytes = VALUE_BYTES_MAX): Promise<Uint8Array> {
  return readAll(createReadStream(file), file, maxBytes);
}

async function readAll(source: Readable, name: string, maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of source) {
      const bytes = chunk as Buffer;
      length += bytes.length;
      if (length > maxBytes) {
        throw new UsageError(`${name} is larger than a value may be: ${maxBytes} bytes`);
      }
      chunks.push(bytes);
    }
  } catch (error) {
    if (error instanceof UsageError) {
      throw error;
    }
    throw unusable(name, "read", error);
  }
  return Buffer.concat(chunks);
}
