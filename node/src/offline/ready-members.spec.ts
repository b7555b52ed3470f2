import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import type { Cluster } from "../state/index.ts";
import { probeOthers } from "./ready-members.ts";

const OWN_ID = 1;

describe("asking the other members whether they serve", () => {
  const servers: Server[] = [];

  afterEach(async () => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    }
  });

  /** host:port of a server that answers /readyz with this status. */
  async function answering(status: number): Promise<string> {
    const server = createServer((request, response) => {
      response.writeHead(request.url === "/readyz" ? status : 404).end();
    });
    servers.push(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  function clusterOf(endpoints: readonly string[]): Cluster {
    const members = endpoints.map((httpEndpoint, at) => ({
      id: at + 2,
      name: `q-${at + 1}`,
      incarnation: new Uint8Array(16),
      address: { peerEndpoint: "", grpcEndpoint: "", httpEndpoint },
    }));
    const own = { id: OWN_ID, name: "q-0", incarnation: new Uint8Array(16), address: members[0]?.address };
    return { members: [own, ...members] } as unknown as Cluster;
  }

  it("distinguishes members that serve, that only run, and that give no answer, and does not ask itself", async () => {
    const [ready, waiting, strange, gone] = [
      await answering(200),
      await answering(503),
      await answering(500),
      await answering(200),
    ];
    const last = servers.pop() as Server;
    last.close();
    await once(last, "close");
    const probed = await probeOthers(clusterOf([ready, waiting, strange, gone, "", "no address"]), OWN_ID);
    expect(probed.map(({ name, answer }) => [name, answer])).to.deep.equal([
      ["q-1", "ready"],
      ["q-2", "not-ready"],
      ["q-3", "no-answer"],
      ["q-4", "no-answer"],
      ["q-5", "no-answer"],
      ["q-6", "no-answer"],
    ]);
    expect(await probeOthers(null, OWN_ID)).to.deep.equal([]);
  });
});
