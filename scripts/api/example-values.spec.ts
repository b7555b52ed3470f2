import { expect } from "chai";
import { ExampleValues } from "./index.ts";

const LOG = "3f0c8a52-6d1e-8b9a-8100-000000000025";
const OTHER_LOG = "11111111-2222-8333-8444-555555555555";

describe("values of examples", () => {
  let values: ExampleValues;

  beforeEach(() => {
    values = new ExampleValues();
  });

  it("must be equal, unless they differ from run to run", () => {
    const documented = { key: "greeting", version: "1", items: [{ value: "aGVsbG8=" }] };
    expect(values.differences(documented, documented)).to.deep.equal([]);
    expect(values.differences(documented, { ...documented, version: "2" })).to.deep.equal([
      'answer.version: documented "1", real "2"',
    ]);
    expect(values.differences(documented, { ...documented, items: [] })).to.have.lengthOf(1);
    expect(values.differences({ created: true }, {})).to.deep.equal([
      "answer.created: documented true, real undefined",
    ]);
    expect(values.differences({}, { created: true }), "a new field").to.have.lengthOf(1);
    expect(values.differences({}, { created: true }, { isPart: true }), "a part").to.deep.equal([]);
    const more = { ...documented, items: [...documented.items, { value: "" }] };
    expect(values.differences(documented, more)).to.have.lengthOf(1);
    expect(values.differences(documented, more, { isPart: true }), "the beginning of a list").to.deep.equal([]);
    expect(values.differences(more, documented, { isPart: true })).to.have.lengthOf(1);
  });

  it("stand for one real id each, also within texts and requests", () => {
    expect(values.differences({ log_id: LOG }, { log_id: OTHER_LOG })).to.deep.equal([]);
    expect(values.differences({ log_id: LOG }, { log_id: LOG }), "another id").to.have.lengthOf(1);
    expect(values.differences({ log_id: "short" }, { log_id: OTHER_LOG }), "no id").to.have.lengthOf(1);
    expect(values.text(`/logs/${LOG}/append`)).to.equal(`/logs/${OTHER_LOG}/append`);
    expect(values.differences({ error: `no log ${LOG}` }, { error: `no log ${OTHER_LOG}` })).to.deep.equal([]);
    expect(values.request({ ids: [LOG] })).to.deep.equal({ ids: [OTHER_LOG] });
  });

  it("stand for a whole text before they stand for a part of it", () => {
    values.learn(LOG, OTHER_LOG);
    values.learn(`${LOG}.${"a".repeat(43)}`, "another secret");
    expect(values.request({ token: `${LOG}.${"a".repeat(43)}` })).to.deep.equal({ token: "another secret" });
  });

  it("stand for one real revision each, in fields for revisions only", () => {
    expect(values.differences({ modRevision: "3", revision: "3" }, { modRevision: "7", revision: "7" })).to.deep.equal(
      [],
    );
    expect(values.differences({ revision: "3" }, { revision: "8" }), "another one").to.have.lengthOf(1);
    expect(values.request({ startRevision: "3", guard: { fencingToken: "3" }, offset: "3" })).to.deep.equal({
      startRevision: "7",
      guard: { fencingToken: "7" },
      offset: "3",
    });
  });

  it("stand for themselves if a request chose them", () => {
    expect(values.request({ clusterId: LOG })).to.deep.equal({ clusterId: LOG });
    expect(values.differences({ clusterId: LOG }, { clusterId: OTHER_LOG })).to.have.lengthOf(1);
  });

  it("only need the right form if they are times, durations, sizes or addresses", () => {
    const documented = { createdAtMs: "1795719248003", uptimeMs: "460", at: "127.0.0.1:7400" };
    expect(
      values.differences(documented, { createdAtMs: "1800000000000", uptimeMs: "1", at: "127.0.0.1:40001" }),
    ).to.deep.equal([]);
    expect(values.differences(documented, { createdAtMs: "0", uptimeMs: "-", at: "localhost" })).to.have.lengthOf(3);
    const moment = { created_at: "2026-11-26T18:54:14.698Z" };
    expect(values.differences(moment, { created_at: "2030-01-01T00:00:00.000Z" })).to.deep.equal([]);
    expect(values.differences(moment, { created_at: "yesterday" })).to.have.lengthOf(1);
  });

  it("may be shortened for readers", () => {
    expect(values.differences({ access_token: "eyJh….eyJp….MVql…" }, { access_token: "a real token" })).to.deep.equal(
      [],
    );
  });
});
