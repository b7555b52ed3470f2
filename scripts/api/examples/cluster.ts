/** What clients see of the cluster. */

import type { Example } from "./example.ts";

export const CLUSTER: readonly Example[] = [
  {
    kind: "grpc",
    method: "ClusterService/GetCluster",
    request: {},
    answers: [
      {
        clusterId: "3f0c8a52-6d1e-4b9a-8f27-5c94e1b7d036",
        members: [
          {
            id: "1",
            name: "q-0",
            grpcEndpoint: "127.0.0.1:7400",
            httpEndpoint: "127.0.0.1:7401",
            leader: true,
          },
        ],
        leaderId: "1",
        term: "2",
        revision: "19",
      },
    ],
  },
];
