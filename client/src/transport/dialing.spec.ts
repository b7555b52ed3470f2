import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { expect } from "chai";
import { BlackHole } from "../../../testing/index.ts";
import { failure, ScriptedMember, TEST_CERTIFICATE, until } from "../../test/index.ts";
import { type Client, createClient, type TlsOptions } from "../index.ts";

describe("connections that are not established", () => {
  const clients: Client[] = [];
  const sockets: Socket[] = [];
  let server: Server | undefined;
  let hole: BlackHole | undefined;

  afterEach(async () => {
    for (const client of clients.splice(0)) {
      client.close();
    }
    for (const socket of sockets.splice(0)) {
      socket.destroy();
    }
    await hole?.close();
    server?.close();
    server = undefined;
    hole = undefined;
  });

  function clientOf(endpoint: string, tls?: TlsOptions): Client {
    const client = createClient({ endpoints: [endpoint], credentials: { token: "t" }, tls });
    clients.push(client);
    return client;
  }

  /** A server that accepts connections and sends nothing. */
  async function silentServer(): Promise<string> {
    const listening = createServer((socket) => {
      socket.on("error", () => undefined);
      sockets.push(socket);
    });
    server = listening;
    await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
    return `127.0.0.1:${(listening.address() as AddressInfo).port}`;
  }

  /** An address where connections neither succeed nor fail. */
  async function silentAddress(): Promise<string> {
    hole = await BlackHole.open("127.0.0.1", 0);
    return `127.0.0.1:${hole.port}`;
  }

  for (const [operation, start] of [
    ["a call", (client: Client) => client.keyValue.get("n", "k")],
    ["a watch", (client: Client) => client.watch.keys("n")],
  ] as const) {
    it(`end with the client of ${operation}, although no connection comes`, async () => {
      const client = clientOf(await silentAddress());
      const dialled: Socket[] = [];
      const note = (message: unknown) => dialled.push((message as { readonly socket: Socket }).socket);
      subscribe("net.client.socket", note);
      const failing = failure(start(client));
      const socket = await until("the attempt", () => dialled.find(({ connecting }) => connecting));
      unsubscribe("net.client.socket", note);
      client.close();
      await until("the end of the attempt", () => socket.destroyed);
      expect((await failing).code).to.equal("CANCELLED");
    });

    it(`end with the client of ${operation}, although the TLS handshake has no answer`, async () => {
      const client = clientOf(await silentServer(), { ca: TEST_CERTIFICATE });
      const failing = failure(start(client));
      const socket = await until("the connection", () => sockets[0]);
      await once(socket, "readable");
      client.close();
      await until("the end of the connection", () => {
        socket.resume();
        return socket.readableEnded || socket.destroyed;
      });
      expect((await failing).code).to.equal("CANCELLED");
    });
  }

  it("do not begin after the client was closed", async () => {
    const endpoint = await silentServer();
    const client = clientOf(endpoint);
    const failing = failure(client.keyValue.get("n", "k"));
    client.close();
    expect((await failing).code).to.equal("CANCELLED");
    // A later connection arrives after one that was begun before.
    const later = connect(Number(endpoint.split(":")[1]), "127.0.0.1");
    sockets.push(later);
    await until("the later connection", () => sockets.some((socket) => socket.remotePort === later.localPort));
    const others = sockets.filter((socket) => socket !== later && socket.remotePort !== later.localPort);
    await until("the end of all others", () =>
      others.every((socket) => socket.resume().readableEnded || socket.destroyed),
    );
  });

  it("end with the client like established ones, whose calls in flight fail with an unknown outcome", async () => {
    const never = Promise.withResolvers<never>();
    const member = await ScriptedMember.start({ putKey: () => never.promise, getKey: () => ({ revision: 7n }) });
    try {
      const client = clientOf(member.endpoint);
      expect((await client.keyValue.get("n", "k")).revision).to.equal(7);
      const failing = failure(client.keyValue.put("n", "k", "v", { timeoutMs: 60_000 }));
      const call = await until("the call", () => member.callsOf("putKey")[0]);
      client.close();
      const error = await failing;
      expect(error).to.include({ code: "CANCELLED", outcome: "unknown" });
      expect(error.requestId).to.equal(call.requestId[0]);
      await until("the end of the call", () => call.cancelled.aborted);
    } finally {
      member.stop();
    }
  });
});
