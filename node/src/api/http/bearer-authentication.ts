/** Who sends a request, by the bearer token in its Authorization header (RFC 6750 §2.1, the only place for one). */

import type { Request, Response } from "express";
import passport from "passport";
import { Strategy } from "passport-http-bearer";
import { type Access, bearerToken, type Caller } from "../../access/index.ts";
import { CoordinationError } from "../../state/index.ts";

const STRATEGY = "bearer";

/** What the library calls for a token that it found. */
type Verify = (request: Request, token: string, done: (error: unknown, caller?: Caller) => void) => void;

export class BearerAuthentication {
  readonly #passport = new passport.Passport();

  /** @param deadlineMs until when, on the monotonic clock, the answer to a request that came now must be there. */
  constructor(access: Pick<Access, "authenticate">, deadlineMs: () => number) {
    const strategy = new Strategy<Verify>({ passReqToCallback: true }, (request, _token, done) => {
      // The library looks at queries and bodies as well, where tokens have no business: the header alone counts.
      const verified = async () => access.authenticate(valuesOf(request), deadlineMs());
      verified().then(
        (caller) => done(null, caller),
        (error: unknown) => done(error),
      );
    });
    this.#passport.use(STRATEGY, strategy);
  }

  /** Who sends the request. Rejects with TOKEN_INVALID, TOKEN_EXPIRED, TOKEN_REVOKED, or what a read barrier raises. */
  authenticate(request: Request, response: Response): Promise<Caller> {
    return new Promise((resolve, reject) => {
      const settle = (error: unknown, caller: Caller | false | null | undefined) => {
        if (error) {
          reject(error);
        } else {
          // Without a caller the library found no token of the form that it knows.
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

/** All values of the header, of which there must be one: Node itself would tell only the first. */
function valuesOf(request: Request): readonly string[] {
  return request.headersDistinct.authorization ?? [];
}

function refuse(values: readonly string[]): never {
  bearerToken(values);
  throw new CoordinationError("TOKEN_INVALID", "the authorization header must be Bearer, one space, and the token");
}
