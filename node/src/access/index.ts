export { Access } from "./access.ts";
export { generateApiKey } from "./api-key.ts";
export { bearerToken } from "./authorization-header.ts";
export type { Caller } from "./caller.ts";
export type { Claims } from "./claims.ts";
export { createFounding, type FoundingRequest } from "./founding.ts";
export { type Listing, openPageToken, sealPageToken } from "./page-token.ts";
export type { ReplicatedState } from "./replicated-state.ts";
export type { IssuedToken } from "./token-issuer.ts";
