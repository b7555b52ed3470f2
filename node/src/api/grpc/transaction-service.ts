/** TransactionService on a server. */

import { serviceDefinitions } from "@quoin/proto";
import type { Caller } from "../../access/index.ts";
import { type PortContext, type ServedMethod, serve } from "../calls/index.ts";
import type { TransactionMethods } from "../methods/index.ts";

/** 10,000 operations with their fields. */
const FIELDS_MAX = 100_000;

export function transactionService(port: PortContext<Caller>, methods: TransactionMethods): readonly ServedMethod[] {
  return serve(port, serviceDefinitions.TransactionService, {
    transact: {
      carriesData: true,
      fieldsMax: FIELDS_MAX,
      handle: (call, request, reply) => methods.transact(call, request, reply),
    },
  });
}
