/** Transactions. */

import type { Example } from "./example.ts";

export const TRANSACTIONS: readonly Example[] = [
  {
    kind: "grpc",
    method: "TransactionService/Transact",
    request: {
      namespace: "shop",
      compare: [{ key: { key: "orders/7", exists: false } }],
      success: [{ put: { key: "orders/7", value: "b3Blbg==" } }, { increment: { key: "orders-open", delta: "1" } }],
      failure: [{ get: { key: "orders/7" } }],
    },
    answers: [
      {
        succeeded: true,
        results: [{ put: { created: true } }, { increment: { value: "1", created: true } }],
        revision: "20",
      },
    ],
  },
  {
    kind: "grpc",
    method: "TransactionService/Transact",
    request: { namespace: "shop", success: [{ deletePrefix: { prefix: "orders" } }] },
    answers: [{ succeeded: true, results: [{ deletePrefix: { deletedKeys: "2" } }], revision: "21" }],
  },
];
