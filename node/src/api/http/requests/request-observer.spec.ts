import { once } from "node:events";
import { type Server, request as sendRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import express from "express";
import { until } from "../../../../test/harness/index.ts";
import { Metrics, RequestLog } from "../../../telemetry/index.ts";
import { closeHttpServer, createHttpServer } from "../server/index.ts";
import { ClientAddresses } from "./client-addresses.ts";
import { REQUEST_METRICS, RequestObserver, requestIdOf } from "./request-observer.ts";

const ID = "123E4567-e89b-42d3-a456-426614174000";

describe("RequestObserver", () => {
  let observer: RequestObserver;
  let lines: Record<string, unknown>[];
  let server: Server;
  let at: string;
  /** Called with the function that ends the answer of /held. */
  let held: (() => void)[];

  beforeEach(async () => {
    lines = [];
    held = [];
    const line = (fields: object) => void lines.push({ ...fields });
    const clock = () => performance.now();
    const log = new RequestLog({ debug: line, warn: line, isLevelEnabled: () => true }, 0, clock);
    observer = new RequestObserver(log, clock, new ClientAddresses());
    const application = express();
    const router = express.Router();
    router.get("/things/:name", (request, response) => {
      response.status(request.params.name === "none" ? 404 : 200).send(requestIdOf(request));
    });
    router.get("/held", (_request, response) => void held.push(() => response.send("at last")));
    application.use("/v1", router);
    server = createHttpServer(observer.observed(application));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterEach(() => closeHttpServer(server, 0));

  async function valuesOf(name: string): Promise<string[]> {
    const metrics = new Metrics(() => 0);
    metrics.add(REQUEST_METRICS, observer);
    const found = (await metrics.metrics()).split("\n").filter((line) => line.startsWith(name));
    return found.map((line) => line.slice(name.length));
  }

  /** Waits until so many requests are over; that is a moment after their clients have the answers. */
  const untilLogged = (count: number) => until(`${count} requests to be over`, () => lines.length >= count);

  it("counts requests by the template of their route, whatever the path", async () => {
    for (const path of ["/v1/things/a-secret-name", "/v1/things/another", "/v1/things/none", "/nothing/secret"]) {
      await (await fetch(`${at}${path}?q=secret`)).text();
    }
    await untilLogged(4);
    expect(await valuesOf("quoin_http_requests_total")).to.deep.equal([
      '{method="GET",route="/v1/things/:name",status="200"} 2',
      '{method="GET",route="/v1/things/:name",status="404"} 1',
      '{method="GET",route="none",status="404"} 1',
    ]);
    expect(await valuesOf("quoin_http_request_duration_seconds_count")).to.deep.equal([
      '{method="GET",route="/v1/things/:name"} 3',
      '{method="GET",route="none"} 1',
    ]);
    expect(JSON.stringify(lines)).to.not.include("secret");
    expect(lines.map(({ client }) => client)).to.deep.equal(Array(4).fill("127.0.0.1"));
  });

  it("counts rare methods together", async () => {
    for (const method of ["PROPFIND", "MKCOL"]) {
      await (await fetch(at, { method })).text();
    }
    await untilLogged(2);
    expect(await valuesOf("quoin_http_requests_total")).to.deep.equal(['{method="OTHER",route="none",status="404"} 2']);
  });

  it("gives each request an id that its log line, its answer and its handler share: the client's if it is a UUID", async () => {
    const given = await fetch(`${at}/v1/things/x`, { headers: { "Request-Id": ID } });
    const ids = [given.headers.get("Request-Id"), await given.text()];
    const made = await fetch(`${at}/v1/things/x`, { headers: { "Request-Id": "no UUID" } });
    const madeId = made.headers.get("Request-Id") ?? "";
    expect(await made.text()).to.equal(madeId);
    await untilLogged(2);
    expect([...ids, lines[0]?.requestId]).to.deep.equal(new Array(3).fill(ID.toLowerCase()));
    expect(madeId).to.match(/^[0-9a-f-]{36}$/);
    expect(lines[1]?.requestId).to.equal(madeId);
  });

  it("counts open requests, and requests that their clients aborted before the answer began", async () => {
    const abandoned = sendRequest(`${at}/v1/held`).on("error", () => undefined);
    abandoned.end();
    await until("it to be held", () => held.length > 0);
    expect(await valuesOf("quoin_http_requests_in_flight")).to.deep.equal([" 1"]);
    abandoned.destroy();
    await untilLogged(1);
    expect(await valuesOf("quoin_http_requests_in_flight")).to.deep.equal([" 0"]);
    expect(await valuesOf("quoin_http_requests_total")).to.deep.equal([
      '{method="GET",route="/v1/held",status="aborted"} 1',
    ]);
  });

  it("does not measure the duration of requests that wait for events", async () => {
    await (await fetch(`${at}/v1/things/x?from=1&wait_secs=5`)).text();
    await untilLogged(1);
    expect(await valuesOf("quoin_http_request_duration_seconds_count")).to.deep.equal([
      '{method="GET",route="/v1/things/:name"} 0',
    ]);
  });
});
