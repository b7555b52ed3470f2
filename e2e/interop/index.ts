/** Clients in other languages, which the tools of those languages build. */

export { javaClient, rustClient } from "./built-client.ts";
export { goClient } from "./go-client.ts";
