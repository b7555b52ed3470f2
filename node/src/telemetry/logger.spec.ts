import { spawnSync } from "node:child_process";
import { expect } from "chai";

const LOGGER = new URL("./logger.ts", import.meta.url).href;

/** The output of a process that logs these fields at these levels. The logger writes to standard output itself. */
function logged(
  level: string,
  lines: readonly (readonly [level: string, fields: object])[],
): Record<string, unknown>[] {
  const program = `
    import { createLogger } from ${JSON.stringify(LOGGER)};
    const logger = createLogger(${JSON.stringify(level)}, "q-0");
    for (const [level, fields] of ${JSON.stringify(lines)}) logger[level](fields, "said");
  `;
  const { stdout, status } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    encoding: "utf8",
  });
  expect(status).to.equal(0);
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

describe("the logger", () => {
  it("writes lines of JSON with level, time and member, of its level and above", () => {
    const lines = logged("warn", [
      ["info", {}],
      ["warn", { port: 7400 }],
      ["error", {}],
    ]);
    expect(lines.map(({ level }) => level)).to.deep.equal(["warn", "error"]);
    expect(lines[0]).to.include({ member: "q-0", port: 7400, msg: "said" });
    expect(new Date(String(lines[0]?.time)).toISOString()).to.equal(lines[0]?.time);
  });

  it("censors fields with the name of a secret, also in objects and in nested objects", () => {
    const names = ["authorization", "password", "apiKey", "api_key", "token", "accessToken"];
    const secrets = Object.fromEntries(names.map((name) => [name, `the secret ${name}`]));
    const [line] = logged("debug", [["debug", { ...secrets, request: { ...secrets, owner: secrets, port: 1 } }]]);
    const censored = Object.fromEntries(names.map((name) => [name, "[censored]"]));
    expect(line).to.deep.include({ ...censored, request: { ...censored, owner: censored, port: 1 } });
    expect(JSON.stringify(line)).to.not.include("the secret");
  });
});
