import { expect } from "chai";
import { DEFAULT_HTTP2_LIMITS } from "./limits.ts";
import { encodeOwnSettings } from "./own-settings.ts";

describe("the server's settings", () => {
  it("contain its limits", () => {
    const limits = { ...DEFAULT_HTTP2_LIMITS, headerTableBytes: 5_000, concurrentStreams: 7, headerListBytes: 9_000 };
    const payload = encodeOwnSettings({ ...limits, streamUnreadBytes: 65_535 });
    expect(Buffer.from(payload).toString("hex")).to.equal(
      "000100001388" + "000300000007" + "00040000ffff" + "000600002328",
    );
  });

  for (const [limit, bytes] of [
    ["streamUnreadBytes", 65_534],
    ["streamUnreadBytes", 2 ** 31],
    ["unreadBytes", 65_534],
    ["unreadBytes", 2 ** 31],
  ] as const) {
    it(`refuse ${bytes} as ${limit}`, () => {
      expect(() => encodeOwnSettings({ ...DEFAULT_HTTP2_LIMITS, [limit]: bytes })).to.throw(RangeError, String(bytes));
    });
  }
});
