/** `npm run bench -- noisy`: a quiet tenant beside a noisy one. */

export { type NoisyOptions, noisyCommand } from "./options.ts";
export { NoisyError, runNoisy } from "./run.ts";
export { createTenant } from "./tenants.ts";
