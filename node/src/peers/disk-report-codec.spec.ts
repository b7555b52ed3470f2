import { expect } from "chai";
import { type DiskReport, decodeDiskReport, encodeDiskReport } from "./disk-report-codec.ts";
import { FrameError } from "./frame.ts";

describe("disk report codec", () => {
  it("returns every report as it was", () => {
    const reports: readonly DiskReport[] = [
      { room: "ok", isCritical: false },
      { room: "low", isCritical: false },
      { room: "full", isCritical: true },
    ];
    for (const report of reports) {
      expect(decodeDiskReport(encodeDiskReport(report))).to.deep.equal(report);
    }
  });

  it("refuses truncations, longer bodies and unknown values", () => {
    const body = encodeDiskReport({ room: "full", isCritical: true });
    for (let length = 0; length < body.length; length++) {
      expect(() => decodeDiskReport(body.subarray(0, length))).to.throw(FrameError);
    }
    expect(() => decodeDiskReport(Buffer.concat([body, Buffer.from([0])]))).to.throw(FrameError);
    const unknown = body.slice();
    unknown[7] = 3;
    expect(() => decodeDiskReport(unknown)).to.throw(FrameError);
  });
});
