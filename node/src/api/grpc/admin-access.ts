/**
 * Authenticates callers of the admin port by the cluster's admin tokens, the lines of a file. A caller with a token may
 * do everything there, even when the member has no replicated state.
 *
 * The file is read again when it has changed, so tokens can be replaced without a restart. While it cannot be read,
 * every call is refused. Tokens are stored and compared as SHA-256, and every one is compared each time, so that
 * neither timing nor memory reveals them (S42).
 */

import { createHash, timingSafeEqual } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { bearerToken } from "../../access/index.ts";
import { CoordinationError, type Principal } from "../../state/index.ts";
import type { CallerAccess, ErrorLog } from "../calls/index.ts";

/** Error codes when no file descriptor is left. This is temporary, and says nothing about the token. */
const NO_DESCRIPTOR = new Set(["EMFILE", "ENFILE"]);

export interface Administrator {
  readonly principal: Principal;
}

const ADMINISTRATOR: Administrator = { principal: { subject: "admin", apiKeyId: "" } };

export class AdminAccess implements CallerAccess<Administrator> {
  readonly #tokenFile: string;
  readonly #logger: ErrorLog;
  #version = "";
  #digests: readonly Buffer[] = [];

  /** @param tokenFile path of a file with one token per line; blank lines and spaces around tokens are ignored. */
  constructor(tokenFile: string, logger: ErrorLog) {
    this.#tokenFile = tokenFile;
    this.#logger = logger;
  }

  authenticate(authorization: readonly string[]): Administrator {
    const shown = digestOf(bearerToken(authorization));
    let known = false;
    for (const digest of this.#currentDigests()) {
      known = timingSafeEqual(digest, shown) || known;
    }
    if (!known) {
      throw new CoordinationError("TOKEN_INVALID", "the token is not one of the cluster's admin tokens");
    }
    return ADMINISTRATOR;
  }

  authorize(): undefined {
    return undefined;
  }

  recheck(): void {}

  #currentDigests(): readonly Buffer[] {
    try {
      const { mtimeNs, ino, size } = statSync(this.#tokenFile, { bigint: true });
      const version = `${mtimeNs} ${ino} ${size}`;
      if (version !== this.#version) {
        this.#digests = digestsOf(readFileSync(this.#tokenFile, "utf8"));
        this.#version = version;
      }
      return this.#digests;
    } catch (error) {
      if (NO_DESCRIPTOR.has((error as NodeJS.ErrnoException).code ?? "")) {
        throw new CoordinationError(
          "OVERLOADED",
          "this member has no file descriptor to read its admin tokens; try again",
        );
      }
      this.#logger.error({ err: error }, "the admin token file cannot be read: the admin port refuses all calls");
      throw new CoordinationError("TOKEN_INVALID", "this member cannot read its admin tokens; see its log");
    }
  }
}

function digestsOf(text: string): Buffer[] {
  const tokens = text.split("\n").map((line) => line.trim());
  return tokens.filter((token) => token !== "").map(digestOf);
}

function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
