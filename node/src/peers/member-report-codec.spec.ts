import { expect } from "chai";
import { FrameError } from "./frame.ts";
import { decodeMemberReport, encodeMemberReport, type MemberReport } from "./member-report-codec.ts";

const DIGEST = 0xffff_ffff;

describe("member report codec", () => {
  it("returns every report as it was", () => {
    const reports: readonly MemberReport[] = [
      { diskSpace: "ok", isCritical: false, checkpoint: null },
      { diskSpace: "low", isCritical: false, checkpoint: { index: 2 ** 53 - 1, digest: DIGEST } },
      { diskSpace: "full", isCritical: true, checkpoint: { index: 1, digest: 0 } },
    ];
    for (const report of reports) {
      expect(decodeMemberReport(encodeMemberReport(report))).to.deep.equal(report);
    }
  });

  it("refuses truncations, longer bodies and unknown values", () => {
    const body = encodeMemberReport({ diskSpace: "full", isCritical: true, checkpoint: { index: 9, digest: DIGEST } });
    for (let length = 0; length < body.length; length++) {
      expect(() => decodeMemberReport(body.subarray(0, length))).to.throw(FrameError);
    }
    expect(() => decodeMemberReport(Buffer.concat([body, Buffer.from([0])]))).to.throw(FrameError);
    // An unknown value of free space, a digest of more than 32 bits, and a digest without an index.
    for (const unknown of [body.with(7, 3), body.with(27, 1), body.with(23, 0)]) {
      expect(() => decodeMemberReport(unknown)).to.throw(FrameError);
    }
  });
});
