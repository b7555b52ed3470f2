/** The last example: it gives the owner another password. */

import type { Example } from "./example.ts";

export const OWNER_RESET: readonly Example[] = [
  {
    kind: "grpc",
    method: "ClusterAdminService/ResetOwner",
    port: "admin",
    request: { owner: { email: "owner@example.com", password: "a new long password" } },
    answers: [{ userId: "cbf816ea-56f5-4410-a162-189526f00a62" }],
  },
];
