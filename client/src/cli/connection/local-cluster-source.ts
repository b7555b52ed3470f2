/**
 * The local cluster of the working directory: `.quoin/endpoints.json`, there or in a parent directory, as the launcher
 * of local clusters writes it.
 */

import path from "node:path";
import { UsageError } from "../errors/index.ts";
import { FieldReader, notPrivate, readPossiblyPrivateFile } from "../files/index.ts";
import type { ConnectionSource } from "./connection-source.ts";

const RELATIVE_FILE = path.join(".quoin", "endpoints.json");

/** Beside that file. The launcher writes a new token at each start. */
const ADMIN_TOKEN_FILE = "admin-token";

/**
 * Reads the nearest file at or above a directory.
 *
 * @returns undefined if there is none.
 * @throws UsageError if it is unusable, or other users could use it: it contains an API key.
 */
export async function readLocalClusterSource(workingDirectory: string): Promise<ConnectionSource | undefined> {
  let directory = path.resolve(workingDirectory);
  for (;;) {
    const source = await readFileSource(path.join(directory, RELATIVE_FILE));
    if (source !== undefined) {
      return source;
    }
    const parent = path.dirname(directory);
    if (parent === directory) {
      return undefined;
    }
    directory = parent;
  }
}

/**
 * Reads such a file at another path.
 *
 * @throws UsageError like readLocalClusterSource; also if there is none.
 */
export async function readEndpointsFile(file: string): Promise<ConnectionSource> {
  const source = await readFileSource(file);
  if (source === undefined) {
    throw new UsageError(`${file} does not exist`);
  }
  return source;
}

async function readFileSource(file: string): Promise<ConnectionSource | undefined> {
  const found = await readPossiblyPrivateFile(file);
  if (found === undefined) {
    return undefined;
  }
  // This also rejects a file that another user has planted in a parent directory, because such a file cannot be read.
  if (!found.isPrivate) {
    throw notPrivate(file);
  }
  return toSource(file, new FieldReader(file, parseJson(file, found.content)));
}

function toSource(file: string, fields: FieldReader): ConnectionSource {
  const endpoints = fields.texts("grpc");
  if (endpoints === undefined) {
    throw new UsageError(`${file} names no gRPC endpoint`);
  }
  // `apiKey` is deprecated: older launchers write only this name.
  const apiKey = fields.text("api_key") ?? fields.text("apiKey");
  return {
    endpoints,
    credentials: apiKey === undefined ? undefined : { apiKey },
    adminEndpoints: fields.texts("admin"),
    adminCredentials: { tokenFile: path.join(path.dirname(file), ADMIN_TOKEN_FILE) },
  };
}

/** The parser's message quotes the text, which contains secrets. */
function parseJson(file: string, text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? new Map(Object.entries(value))
      : value;
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw new UsageError(`${file} is not valid JSON`);
    }
    throw error;
  }
}
