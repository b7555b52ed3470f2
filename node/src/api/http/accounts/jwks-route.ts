/** GET /.well-known/jwks.json: the public keys that verify tokens of this cluster (RFC 7517). */

import * as z from "zod";
import { publicJwks, type ReplicatedState } from "../../../access/index.ts";
import { type Route, route } from "../routing/index.ts";

const JwksResponse = z.object({
  keys: z.array(
    z.object({
      kty: z.literal("OKP"),
      crv: z.literal("Ed25519"),
      x: z.string().describe("The public key in base64url"),
      kid: z.string(),
      use: z.literal("sig"),
      alg: z.literal("EdDSA"),
    }),
  ),
});

/**
 * The route of the public keys. It answers from this member's applied state, also without a leader, so that tokens can
 * always be verified. After a rotation another member may have the newest key a moment earlier.
 */
export function jwksRoute(replicated: Pick<ReplicatedState, "state">): Route {
  return route({
    method: "GET",
    path: "/.well-known/jwks.json",
    operationId: "getPublicKeys",
    summary: "The public keys that verify access tokens, newest first",
    access: "none",
    success: { status: 200, description: "A JSON Web Key Set", schema: JwksResponse },
    handle: () => ({ json: publicJwks(replicated.state) }),
  });
}
