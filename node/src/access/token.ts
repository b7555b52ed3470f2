/**
 * Tokens: JSON Web Tokens (RFC 7519) signed with Ed25519 (RFC 8037), one pinned algorithm, keys named by `kid` (S41).
 *
 * This file is about signatures and expiry; what the claims must look like is in `claims.ts`, and whether a good token
 * still means anything is decided by `Access` against the replicated records.
 */

import { type CryptoKey, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify, SignJWT } from "jose";
import { CoordinationError } from "../state/index.ts";
import { type Claims, payloadOf } from "./claims.ts";

const ALGORITHM = "EdDSA";

/** A token with these claims, signed by the key with the id `kid`, for members of the cluster with this id. */
export function signToken(claims: Claims, clusterId: string, kid: string, privateKey: CryptoKey): Promise<string> {
  return new SignJWT(payloadOf(claims, clusterId)).setProtectedHeader({ alg: ALGORITHM, kid }).sign(privateKey);
}

/**
 * The payload of a token whose signature is good and which has not expired at `wallMs`; its claims are unchecked. Asks
 * `publicKeyOf` for the key, only for tokens of the right form and algorithm. Raises TOKEN_EXPIRED, TOKEN_INVALID,
 * and whatever `publicKeyOf` raises.
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
    // The library's error carries the claims: it is not handed on as a cause.
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
