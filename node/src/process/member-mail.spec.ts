import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { MailServer, temporaryDirectory } from "../../test/harness/index.ts";
import type { Mailer } from "../access/index.ts";
import { UsageError } from "../command-line/index.ts";
import { memberMailer } from "./member-mail.ts";

const MAIL = { to: "ada@example.com", subject: "Hello", text: "a secret" };

describe("mail of a member", () => {
  let directory: string;
  let logged: { fields: object; message: string }[];
  const log = {
    info: (fields: object, message: string) => void logged.push({ fields, message }),
    warn: (fields: object, message: string) => void logged.push({ fields, message }),
  };

  beforeEach(() => {
    directory = temporaryDirectory();
    logged = [];
  });

  function smtp(content: string): Mailer | null {
    const urlFile = join(directory, "smtp-url");
    writeFileSync(urlFile, content);
    return memberMailer({ kind: "smtp", urlFile, from: "quoin@example.com" }, log);
  }

  it("is off unless it is configured", () => {
    expect(memberMailer(null, log)).to.equal(null);
    expect(logged).to.deep.equal([]);
  });

  it("goes through the mail server whose address is in the file", async () => {
    const server = await MailServer.open();
    try {
      await smtp(`${server.url}\n`)?.send(MAIL);
      expect(server.received.map(({ from, to }) => ({ from, to }))).to.deep.equal([
        { from: "quoin@example.com", to: ["ada@example.com"] },
      ]);
    } finally {
      await server.close();
    }
  });

  it("goes into the log on request, with a warning there", async () => {
    await memberMailer({ kind: "log" }, log)?.send(MAIL);
    expect(logged.map(({ fields }) => fields)).to.deep.equal([{}, { mail: MAIL }]);
    expect(logged[0]?.message).to.include("--mail-to-log").and.include("secrets");
  });

  it("refuses a file that is missing or wrong, without showing its content", () => {
    const missing = join(directory, "nothing");
    expect(() => memberMailer({ kind: "smtp", urlFile: missing, from: "quoin@example.com" }, log))
      .to.throw(UsageError)
      .with.property("message")
      .that.includes(missing);
    for (const content of ["", "s3cret", "https://user:s3cret@example.com", "smtp:", "smtp:///s3cret"]) {
      expect(() => smtp(content), content)
        .to.throw(UsageError)
        .with.property("message")
        .that.includes("--smtp-url-file")
        .and.does.not.include("s3cret");
    }
  });
});
