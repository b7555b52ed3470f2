/** Health, metrics and the description of the interface. */

import type { Example } from "./example.ts";

export const HEALTH: readonly Example[] = [
  {
    kind: "http",
    method: "GET",
    operation: "getLiveness",
    target: "/livez",
    isAuthorized: false,
    answer: { status: 200, text: "ok\n" },
  },
  {
    kind: "http",
    method: "GET",
    operation: "getReadiness",
    target: "/readyz?verbose",
    isAuthorized: false,
    answer: {
      status: 200,
      text: "[+]voter ok\n[+]leader ok\n[+]applied ok\n[+]disk ok\n[+]event-loop ok\n[+]draining ok\n",
    },
  },
  {
    kind: "http",
    method: "GET",
    operation: "getHealth",
    target: "/healthz",
    isAuthorized: false,
    answer: { status: 200, text: "ok\n" },
  },
  {
    kind: "http",
    method: "GET",
    operation: "getMetrics",
    target: "/metrics",
    isAuthorized: false,
    answer: {
      status: 200,
      text: '# TYPE quoin_member_info gauge\nquoin_member_info{name="q-0",member_id="1",cluster="quoin"} 1\nquoin_raft_role{role="leader"} 1\n',
      isPart: true,
    },
  },
  {
    kind: "http",
    method: "GET",
    operation: "getDocs",
    about: "A browser shows the page.",
    target: "/docs",
    isAuthorized: false,
    answer: { status: 200, text: "</main></body></html>", isPart: true },
  },
  {
    kind: "http",
    method: "GET",
    operation: "getOpenApiDocument",
    target: "/openapi.json",
    isAuthorized: false,
    answer: {
      status: 200,
      json: {
        openapi: "3.1.0",
        info: {
          title: "Quoin",
          version: "v1",
          description:
            "Keys and values, locks, memory regions, event logs, users and tokens of a Quoin cluster. Any member answers.",
          license: { name: "Apache-2.0", identifier: "Apache-2.0" },
        },
        servers: [{ url: "/" }],
      },
      isPart: true,
    },
  },
];
