import { expect } from "chai";
import { ApiServer, configOf } from "../../test/api-server/index.ts";
import { ManualTiming } from "../../test/index.ts";
import { KubeClient } from "./client.ts";
import { type Connection, connect } from "./connection.ts";
import { Recorder } from "./recorder.ts";

const REGARDING = {
  apiVersion: "quoin.dev/v1alpha1",
  kind: "CoordinationCluster",
  name: "demo",
  namespace: "default",
  uid: "1",
};

describe("recorder of events", () => {
  let server: ApiServer;
  let connection: Connection;
  let timing: ManualTiming;
  let recorder: Recorder;
  let errors: unknown[];

  beforeEach(async () => {
    server = new ApiServer();
    await server.listen();
    connection = await connect(configOf(server.url));
    timing = new ManualTiming();
    errors = [];
    const onError = (error: unknown): unknown => errors.push(error);
    recorder = new Recorder({ client: new KubeClient(connection), instance: "operator-1", onError, timing });
  });

  afterEach(async () => {
    await connection.close();
    await server.close();
  });

  function record(reason: string, note = "as it was asked for"): void {
    recorder.record(REGARDING, { type: "Normal", reason, action: "Promote", note });
  }

  it("writes the event to the cluster's own namespace", async () => {
    record("MemberPromoted", "x".repeat(2_000));
    await recorder.flush();
    const [event] = server.store.list("events", "default");
    expect(event).to.deep.include({
      regarding: REGARDING,
      type: "Normal",
      reason: "MemberPromoted",
      action: "Promote",
      reportingController: "quoin.dev/operator",
      reportingInstance: "operator-1",
      note: "x".repeat(1_024),
    });
    expect(event?.eventTime).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  });

  it("writes one of a kind in ten seconds, and then how many there were", async () => {
    record("Blocked");
    record("Blocked");
    record("SlotAdded");
    timing.advance(9_999);
    record("Blocked");
    timing.advance(1);
    record("Blocked");
    await recorder.flush();
    const told = server.store.list("events").map(({ reason, series }) => [reason, series?.count]);
    expect(told).to.have.deep.members([
      ["Blocked", undefined],
      ["SlotAdded", undefined],
      ["Blocked", 3],
    ]);
  });

  it("writes what differs only in its note at once, for as many as a cluster has members", async () => {
    for (let member = 0; member < 9; member++) {
      record("MemberReplaced", `demo-${member}`);
    }
    timing.advance(10_000);
    record("MemberReplaced", "demo-0");
    await recorder.flush();
    const told = server.store.list("events").map(({ note, series }) => [note, series?.count]);
    expect(told).to.have.deep.members([
      ...[0, 1, 2, 3, 4, 5, 6].map((member) => [`demo-${member}`, undefined]),
      ["demo-0", 3],
    ]);
  });

  it("does not block its caller when it cannot write", async () => {
    server.before = () => ({ status: 403 });
    record("Blocked");
    await recorder.flush();
    expect(errors).to.have.length(1);
  });
});
