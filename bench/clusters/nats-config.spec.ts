import { expect } from "chai";
import { type NatsPlan, natsConfig } from "./nats-config.ts";

describe("the configuration of a member of NATS", () => {
  const plans = [1, 2, 3].map(
    (at): NatsPlan => ({
      name: `n-${at}`,
      client: `127.0.0.1:${at}0`,
      route: `127.0.0.1:${at}1`,
      monitoring: `127.0.0.1:${at}2`,
    }),
  );

  it("syncs every write, lets enough batches be open, and names the other members", () => {
    expect(natsConfig(plans[1] as NatsPlan, plans, "/data/n-2").split("\n")).to.deep.equal([
      'server_name: "n-2"',
      'listen: "127.0.0.1:20"',
      'http: "127.0.0.1:22"',
      "jetstream {",
      '  store_dir: "/data/n-2"',
      "  sync_interval: always",
      "  limits { batch { max_inflight_per_stream: 1000 } }",
      "}",
      "cluster {",
      '  name: "bench"',
      '  listen: "127.0.0.1:21"',
      '  routes: ["nats://127.0.0.1:11", "nats://127.0.0.1:31"]',
      "}",
      "",
    ]);
  });

  it("takes a path with blanks and quotation marks", () => {
    const lines = natsConfig(plans[0] as NatsPlan, plans, '/a "b" c').split("\n");
    expect(lines).to.include('  store_dir: "/a \\"b\\" c"');
  });
});
