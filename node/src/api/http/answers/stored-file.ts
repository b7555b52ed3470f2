/**
 * A document that is the same for everybody, ready to send: its bytes, its validator, and its encoded forms are made
 * once. A client that has it learns with `If-None-Match` that nothing changed.
 */

import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Request, Response } from "express";

export interface StoredFile {
  /** The media type. */
  readonly type: string;
  /** A strong validator of the unencoded content. */
  readonly etag: string;
  readonly plain: Buffer;
  /** By the name of a content encoding, the best first. */
  readonly encoded: ReadonlyMap<string, Buffer>;
}

/** A client may keep the document, but asks each time whether it has changed. */
export const ASKED_CACHING = "no-cache";
const DIGEST_CHARACTERS = 24;
const compress = promisify(gzip);

export function storedFile(type: string, plain: Buffer, encoded: StoredFile["encoded"]): StoredFile {
  const digest = createHash("sha256").update(plain).digest("base64url").slice(0, DIGEST_CHARACTERS);
  return { type, etag: `"${digest}"`, plain, encoded };
}

/** The same for a text, which this compresses. */
export async function compressedFile(type: string, text: string): Promise<StoredFile> {
  const plain = Buffer.from(text);
  return storedFile(type, plain, new Map([["gzip", await compress(plain)]]));
}

/** Answers a GET or HEAD request. */
export function sendFile(request: Request, response: Response, file: StoredFile, caching: string): void {
  response.set({ ETag: file.etag, "Cache-Control": caching, Vary: "Accept-Encoding" });
  if (request.get("If-None-Match") === file.etag) {
    response.status(304).end();
    return;
  }
  // Browsers name gzip before br, and mean no order by that.
  const encoded = [...file.encoded].find(([encoding]) => request.acceptsEncodings(encoding) === encoding);
  if (encoded !== undefined) {
    response.set("Content-Encoding", encoded[0]);
  }
  // Without the framework's `send`, which would add its own validator.
  const sent = encoded?.[1] ?? file.plain;
  response.setHeader("Content-Type", file.type).setHeader("Content-Length", sent.byteLength);
  response.end(request.method === "HEAD" ? undefined : sent);
}
