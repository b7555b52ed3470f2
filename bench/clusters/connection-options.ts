/** How the load generator connects, the same to every kind of cluster. */

import type { ChannelOptions } from "@grpc/grpc-js";

/** Clients of one process share connections unless told otherwise; here each client is to have one of its own. */
export const connectionOptions: ChannelOptions = { "grpc.use_local_subchannel_pool": 1 };
