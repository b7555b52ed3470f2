/**
 * Who may use the admin port: whoever shows one of the cluster's admin tokens, the lines of a file. They may do
 * everything there, also where no replicated state could say who they are.
 *
 * The file is read again when it has changed, so tokens are replaced without a restart. While it cannot be read, nobody
 * gets in. Tokens are kept and compared as SHA-256, every one each time: neither time nor memory tells of them (S42).
 */

import { createHash, timingSafeEqual } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { bearerToken } from "../../access/index.ts";
import { CoordinationError, type Principal } from "../../state/index.ts";
import type { CallerAccess, ErrorLog } from "../calls/index.ts";

/** What opening a file says when there is no descriptor. That passes, and says nothing about the token. */
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

  /** @param tokenFile path of a file with one token a line; blank lines and space around tokens are ignored. */
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
      this.#logger.error({ err: error }, "the admin token file cannot be read: the admin port refuses everybody");
      throw new CoordinationError("TOKEN_INVALID", "this member cannot read its admin tokens; its log says why");
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
