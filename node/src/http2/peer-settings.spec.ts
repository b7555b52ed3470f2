import { expect } from "chai";
import { Setting, settings } from "../../test/http2/index.ts";
import { ErrorCode } from "./error-code.ts";
import { applySettings } from "./peer-settings.ts";

type Pair = readonly [id: number, value: number];

function apply(...pairs: readonly Pair[]): { readonly code: number; readonly changes: readonly string[] } {
  const bytes = settings(...pairs);
  const changes: string[] = [];
  const code = applySettings(bytes, 9, bytes.length, {
    onHeaderTableSize: (size) => changes.push(`table ${size}`),
    onInitialWindowSize: (size) => changes.push(`window ${size}`) > 0 && size !== 666,
    onMaxFrameSize: (size) => changes.push(`frame ${size}`),
  });
  return { code, changes };
}

describe("the settings of a client", () => {
  it("are applied in their order, windows last and once", () => {
    const { code, changes } = apply(
      ...([
        [Setting.InitialWindowSize, 5],
        [Setting.HeaderTableSize, 0],
        [Setting.MaxFrameSize, 20_000],
      ] as const),
      ...([
        [Setting.HeaderTableSize, 0xffff_ffff],
        [Setting.InitialWindowSize, 0x7fff_ffff],
      ] as const),
    );
    expect(code).to.equal(ErrorCode.NoError);
    expect(changes).to.deep.equal(["table 0", "frame 20000", "table 4294967295", "window 2147483647"]);
  });

  it("may contain values that do not concern a server", () => {
    const pairs: readonly Pair[] = [
      ...([
        [Setting.EnablePush, 0],
        [Setting.EnablePush, 1],
        [Setting.MaxConcurrentStreams, 0],
      ] as const),
      ...([
        [Setting.MaxHeaderListSize, 1],
        [0x7777, 5],
      ] as const),
    ];
    expect(apply(...pairs)).to.deep.equal({ code: ErrorCode.NoError, changes: [] });
  });

  const wrong: readonly (readonly [title: string, pair: Pair, code: number])[] = [
    ["push that is neither on nor off", [Setting.EnablePush, 2], ErrorCode.ProtocolError],
    ["a window of 2^31", [Setting.InitialWindowSize, 0x8000_0000], ErrorCode.FlowControlError],
    ["a window that makes that of a stream too large", [Setting.InitialWindowSize, 666], ErrorCode.FlowControlError],
    ["frames that are too short", [Setting.MaxFrameSize, 16_383], ErrorCode.ProtocolError],
    ["frames that are too long", [Setting.MaxFrameSize, 16_777_216], ErrorCode.ProtocolError],
  ];
  for (const [title, pair, code] of wrong) {
    it(`must not contain ${title}`, () => {
      expect(apply(pair).code).to.equal(code);
    });
  }

  it("may contain the minimum and the maximum frame size", () => {
    expect(apply([Setting.MaxFrameSize, 16_384], [Setting.MaxFrameSize, 16_777_215]).code).to.equal(ErrorCode.NoError);
  });
});
