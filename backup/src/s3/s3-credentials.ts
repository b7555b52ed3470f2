/**
 * Credentials for S3: given, or from a file in the AWS format (`aws_access_key_id = …` in sections). The file is read
 * again every ten minutes, so that a Secret can be rotated. Without either, the library finds those of the environment.
 */

import { readFile } from "node:fs/promises";

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** The same in the form of the library, which allows no undefined fields. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
}

const DEFAULT_PROFILE = "default";
/** The library requests them again when half of this is left. */
const LIFETIME_MS = 10 * 60_000;

/**
 * The credential provider for the library. It raises an error named CredentialsProviderError, without the content of
 * the file.
 */
export function credentialsFromFile(path: string, profile = DEFAULT_PROFILE): () => Promise<Credentials> {
  return async () => {
    const credentials = parseCredentials(await readText(path), profile);
    if (credentials === undefined) {
      throw credentialsError(`${path} has no aws_access_key_id and aws_secret_access_key in its section [${profile}]`);
    }
    return { ...credentials, expiration: new Date(Date.now() + LIFETIME_MS) };
  };
}

/** Lines before the first section belong to the section "default". */
export function parseCredentials(text: string, profile: string): Credentials | undefined {
  const values = new Map<string, string>();
  let section = DEFAULT_PROFILE;
  for (const line of text.split("\n").map((raw) => raw.trim())) {
    const header = /^\[(.*)\]$/.exec(line)?.[1];
    const equals = line.indexOf("=");
    if (header !== undefined) {
      section = header.trim();
    } else if (section === profile && equals > 0 && !/^[#;]/.test(line)) {
      values.set(line.slice(0, equals).trim(), line.slice(equals + 1).trim());
    }
  }
  const [accessKeyId, secretAccessKey] = [values.get("aws_access_key_id"), values.get("aws_secret_access_key")];
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    return undefined;
  }
  const sessionToken = values.get("aws_session_token");
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw credentialsError(
      `the file with credentials cannot be read: ${error instanceof Error ? error.message : error}`,
    );
  }
}

function credentialsError(message: string): Error {
  return Object.assign(new Error(message), { name: "CredentialsProviderError" });
}
