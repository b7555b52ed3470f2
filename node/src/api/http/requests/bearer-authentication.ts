/**
 * Authenticates requests by the bearer token in the Authorization header (RFC 6750 §2.1), the only place for a token.
 */

import type { Request, Response } from "express";
import passport from "passport";
import { Strategy } from "passport-http-bearer";
import { type Access, bearerToken, type Caller } from "../../../access/index.ts";
import { CoordinationError } from "../../../state/index.ts";

const STRATEGY = "bearer";

/** The function that the library calls for a token that it found. */
type Verify = (request: Request, token: string, done: (error: unknown, caller?: Caller) => void) => void;

export class BearerAuthentication {
  readonly #passport = new passport.Passport();

  /** @param deadlineMs returns the deadline, on the monotonic clock, of a request that arrives now. */
  constructor(access: Pick<Access, "authenticate">, deadlineMs: () => number) {
    const strategy = new Strategy<Verify>({ passReqToCallback: true }, (request, _token, done) => {
      // The library also searches queries and bodies, where tokens are not allowed: only the header counts.
      const verified = async () => access.authenticate(valuesOf(request), deadlineMs());
      verified().then(
        (caller) => done(null, caller),
        (error: unknown) => done(error),
      );
    });
    this.#passport.use(STRATEGY, strategy);
  }

  /**
   * Resolves to the caller. Rejects with TOKEN_INVALID, TOKEN_EXPIRED, TOKEN_REVOKED, or an error of a read barrier.
   */
  authenticate(request: Request, response: Response): Promise<Caller> {
    return new Promise((resolve, reject) => {
      const settle = (error: unknown, caller: Caller | false | null | undefined) => {
        if (error) {
          reject(error);
        } else {
          // Without a caller, the library found no token in a form that it knows.
          resolve(caller || refuse(valuesOf(request)));
        }
      };
      const middleware = this.#passport.authenticate(
        STRATEGY,
        { session: false },
        (error: unknown, caller?: Caller) => {
          try {
            settle(error, caller);
          } catch (refusal) {
            reject(refusal);
          }
        },
      );
      middleware(request, response, reject);
    });
  }
}

/** Returns all values of the header; only one is allowed. Node itself would return only the first. */
function valuesOf(request: Request): readonly string[] {
  return request.headersDistinct.authorization ?? [];
}

function refuse(values: readonly string[]): never {
  bearerToken(values);
  throw new CoordinationError("TOKEN_INVALID", "the authorization header must be Bearer, one space, and the token");
}
