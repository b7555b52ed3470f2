/**
 * Tokens: JSON Web Tokens (RFC 7519) signed with Ed25519 (RFC 8037), one pinned algorithm, keys named by `kid` (S41).
 *
 * This file checks signatures and expiry. `claims.ts` checks the form of the claims. `Access` decides by the replicated
 * records whether a valid token still gives any rights.
 */

import { type CryptoKey, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify, SignJWT } from "jose";
import { CoordinationError } from "../state/index.ts";
import { type Claims, payloadOf } from "./claims.ts";

const ALGORITHM = "EdDSA";

/** Resolves to a token with these claims, signed with the key `kid`, for members of the cluster with this id. */
export function signToken(claims: Claims, clusterId: string, kid: string, privateKey: CryptoKey): Promise<string> {
  return new SignJWT(payloadOf(claims, clusterId)).setProtectedHeader({ alg: ALGORITHM, kid }).sign(privateKey);
}

/**
 * Resolves to the payload of a token with a valid signature that has not expired at `wallMs`; its claims are not
 * checked. Calls `publicKeyOf` only for tokens of the right form and algorithm. Rejects with TOKEN_EXPIRED,
 * TOKEN_INVALID, and the errors of `publicKeyOf`.
 */
export async function verifySignature(
  token: string,
  publicKeyOf: (kid: string) => Promise<CryptoKey>,
  wallMs: number,
): Promise<JWTPayload> {
  const options = { algorithms: [ALGORITHM], currentDate: new Date(wallMs) };
  const keyOf: JWTVerifyGetKey<CryptoKey> = ({ kid }) => publicKeyOf(requireKid(kid));
  try {
    const { payload } = await jwtVerify(token, keyOf, options);
    return payload;
  } catch (error) {
    // The library's error contains the claims, so it is not passed on as a cause.
    if (error instanceof errors.JWTExpired) {
      throw new CoordinationError("TOKEN_EXPIRED", "the token has expired");
    }
    if (error instanceof errors.JOSEAlgNotAllowed) {
      throw new CoordinationError("TOKEN_INVALID", `the token must be signed with the algorithm ${ALGORITHM}`);
    }
    if (error instanceof errors.JWSSignatureVerificationFailed) {
      throw new CoordinationError("TOKEN_INVALID", "the token's signature is wrong");
    }
    if (error instanceof errors.JWTClaimValidationFailed) {
      throw new CoordinationError("TOKEN_INVALID", `the token's claim "${error.claim}" is not valid`);
    }
    if (error instanceof errors.JOSEError) {
      throw new CoordinationError("TOKEN_INVALID", "the token is not a JSON Web Token of this service");
    }
    throw error;
  }
}

function requireKid(kid: unknown): string {
  if (typeof kid !== "string" || kid === "") {
    throw new CoordinationError("TOKEN_INVALID", "the token's header names no key (kid)");
  }
  return kid;
}
