/** The TLS options of a client. */

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { badField, bytes, record, text } from "../options/index.ts";

/**
 * Certificates and key, all in PEM, as content or as paths of files. Files are read again for each connection, so that
 * replaced ones count; while they cannot be used, the ones before do.
 */
export interface TlsOptions {
  /** Certificate authorities to trust instead of the system's. */
  readonly ca?: string | Uint8Array | undefined;
  /** File of these, instead of `ca`. */
  readonly caFile?: string | undefined;
  /** The client certificate; needs its key. */
  readonly certificate?: string | Uint8Array | undefined;
  /** File of it, instead of `certificate`. */
  readonly certificateFile?: string | undefined;
  /** Private key of the certificate. */
  readonly key?: string | Uint8Array | undefined;
  /** File of it, instead of `key`. */
  readonly keyFile?: string | undefined;
}

/** Certificates and key as Node's own modules take them. */
export interface TlsContents {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/** Each content with the option that names its file. */
const FILES = { ca: "caFile", certificate: "certificateFile", key: "keyFile" } as const;
const CONTENTS = ["ca", "certificate", "key"] as const;
type Content = (typeof CONTENTS)[number];

const tlsRule = record<TlsOptions>(
  { ca: bytes, caFile: text, certificate: bytes, certificateFile: text, key: bytes, keyFile: text },
  [],
);

/** Options that are usable, with what they say at the moment. */
export class Tls {
  readonly #options: TlsOptions;
  readonly #hasFiles: boolean;
  /** What was usable last. */
  #last: TlsContents;

  /**
   * Checks the options before connecting: a connection would only fail, without the reason.
   *
   * @throws QuoinError INVALID_ARGUMENT / BAD_FIELD if they are unusable.
   */
  constructor(options: TlsOptions) {
    tlsRule(options, "tls");
    for (const content of CONTENTS) {
      if (options[content] !== undefined && options[FILES[content]] !== undefined) {
        throw badField("tls", `must have ${content} or ${FILES[content]}, not both`);
      }
    }
    if (hasOne(options, "certificate") !== hasOne(options, "key")) {
      throw badField("tls", "needs a certificate and its key together");
    }
    this.#options = options;
    this.#hasFiles = CONTENTS.some((content) => options[FILES[content]] !== undefined);
    this.#last = read(options);
    check(options, this.#last);
  }

  /** The options, checked; those that have been already stay what they are. Undefined = not encrypted. */
  static of(options: TlsOptions | Tls): Tls;
  static of(options: TlsOptions | Tls | undefined): Tls | undefined;
  static of(options: TlsOptions | Tls | undefined): Tls | undefined {
    return options === undefined || options instanceof Tls ? options : new Tls(options);
  }

  /** The same object as before, unless a file has changed. */
  current(): TlsContents {
    if (!this.#hasFiles) {
      return this.#last;
    }
    try {
      const now = read(this.#options);
      if (!isSame(now, this.#last)) {
        check(this.#options, now);
        this.#last = now;
      }
    } catch {
      // In the middle of a replacement, a file may be missing, or not fit to another one yet.
    }
    return this.#last;
  }
}

function hasOne(options: TlsOptions, content: Content): boolean {
  return options[content] !== undefined || options[FILES[content]] !== undefined;
}

/** @throws QuoinError INVALID_ARGUMENT / BAD_FIELD if a file cannot be read. */
function read(options: TlsOptions): TlsContents {
  const [ca, cert, key] = CONTENTS.map((content) => contentOf(options, content));
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}

/** @throws QuoinError INVALID_ARGUMENT / BAD_FIELD if something is unusable. */
function check(options: TlsOptions, found: TlsContents): void {
  try {
    // OpenSSL ignores authorities that it cannot read.
    if (found.ca !== undefined) {
      new X509Certificate(found.ca);
    }
  } catch (error) {
    throw unusable(options, ["ca"], error);
  }
  try {
    createSecureContext(found);
  } catch (error) {
    throw unusable(options, ["certificate", "key"], error);
  }
}

function contentOf(options: TlsOptions, content: Content): Buffer | undefined {
  const file = options[FILES[content]];
  if (file === undefined) {
    const given = options[content];
    return given === undefined ? undefined : Buffer.from(given);
  }
  try {
    return readFileSync(file);
  } catch (error) {
    throw unusable(options, [content], error);
  }
}

/** OpenSSL's messages name the problem, and quote nothing of the key. */
function unusable(options: TlsOptions, of: readonly Content[], error: unknown): Error {
  const paths = of.map((content) => options[FILES[content]]).filter((file) => file !== undefined);
  const what = paths.length === 0 ? of.join(" and ") : paths.join(" and ");
  return badField("tls", `cannot be used: ${what}: ${error instanceof Error ? error.message : String(error)}`);
}

function isSame(one: TlsContents, other: TlsContents): boolean {
  return (["ca", "cert", "key"] as const).every((name) => {
    const [a, b] = [one[name], other[name]];
    return a === b || (a !== undefined && b !== undefined && a.equals(b));
  });
}
