import { expect } from "chai";
import { CoordinationError } from "../../state/index.ts";
import { requestId, requestIdBytes, requireApiVersion, requireRequestId } from "./metadata-contract.ts";

const UUID = "0189f7f1-2345-7abc-8def-0123456789ab";

/** Field and message of the BAD_METADATA that the check throws. */
function refusal(check: () => unknown): readonly (string | undefined)[] {
  try {
    check();
  } catch (error) {
    expect(error).instanceOf(CoordinationError);
    const { reason, details, message } = error as CoordinationError;
    expect(reason).equal("BAD_METADATA");
    return [details.get("field"), message];
  }
  throw new Error("was not refused");
}

describe("metadata contract", () => {
  it("requires api-version v1, once", () => {
    requireApiVersion(["v1"]);
    const cases: readonly (readonly [readonly string[], string])[] = [
      [[], "is missing"],
      [["v2"], "must be v1"],
      [["V1"], "must be v1"],
      [[""], "must be v1"],
      [[" v1"], "must be v1"],
      [["v1", "v1"], "is repeated"],
      [["v1, v1"], "is repeated"],
    ];
    for (const [values, problem] of cases) {
      const [field, message] = refusal(() => requireApiVersion(values));
      expect(field).equal("api-version");
      expect(message, JSON.stringify(values)).to.include(problem);
    }
  });

  it("takes a request-id of any UUID version in any case, and returns it in lower case (RFC 9562)", () => {
    const nil = "00000000-0000-0000-0000-000000000000";
    const max = "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF";
    for (const uuid of [UUID, UUID.toUpperCase(), nil, max]) {
      expect(requireRequestId([uuid])).equal(uuid.toLowerCase());
    }
  });

  it("refuses a request-id that is missing, repeated or not a UUID", () => {
    const cases: readonly (readonly [readonly string[], string])[] = [
      [[], "is missing"],
      [[UUID, UUID], "is repeated"],
      [[`${UUID}, ${UUID}`], "is repeated"],
      [[""], "must be a UUID"],
      [[UUID.replaceAll("-", "")], "must be a UUID"],
      [[`{${UUID}}`], "must be a UUID"],
      [[`urn:uuid:${UUID}`], "must be a UUID"],
      [[`${UUID} `], "must be a UUID"],
      [[UUID.replace("0", "g")], "must be a UUID"],
    ];
    for (const [values, problem] of cases) {
      const [field, message] = refusal(() => requireRequestId(values));
      expect(field).equal("request-id");
      expect(message, JSON.stringify(values)).to.include(problem);
    }
  });

  it("lets a request-id be absent only where it is optional", () => {
    expect(requestId([])).equal(undefined);
    expect(refusal(() => requestId(["x"]))[0]).equal("request-id");
  });

  it("turns a request id into its 16 bytes", () => {
    expect(Buffer.from(requestIdBytes(UUID)).toString("hex")).equal("0189f7f123457abc8def0123456789ab");
  });
});
