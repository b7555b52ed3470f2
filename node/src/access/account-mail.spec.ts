import { expect } from "chai";
import { MailServer, until } from "../../test/harness/index.ts";
import { AccountMail } from "./account-mail.ts";
import { logMailer, type Mailer, smtpMailer } from "./mailer.ts";

const TOKEN = "11111111-2222-4333-8444-555555555555.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNO_-";
const FROM = "quoin@example.com";

describe("the mails of accounts", () => {
  let server: MailServer;
  let lines: string[];
  let mails: AccountMail[];

  beforeEach(async () => {
    server = await MailServer.open();
    lines = [];
    mails = [];
  });

  afterEach(async () => {
    for (const mail of mails) {
      mail.stop();
    }
    await server.close();
  });

  const log = {
    info: (fields: object, message: string) => lines.push(`info ${JSON.stringify(fields)} ${message}`),
    warn: (fields: object, message: string) => lines.push(`warn ${JSON.stringify(fields)} ${message}`),
  };

  function mailOver(mailer: Mailer | null, retryDelaysMs: readonly number[] = []): AccountMail {
    const mail = new AccountMail({ mailer, clusterName: "shop", log, retryDelaysMs });
    mails.push(mail);
    return mail;
  }

  it("goes to the one address, with the token, over SMTP", async () => {
    const address = "ada+test@example.com";
    mailOver(smtpMailer(server.url, FROM)).sendVerification("ada", address, TOKEN);
    await until("what is sent", () => server.received.length === 1);
    const [received] = server.received;
    expect(received).deep.include({ from: FROM, to: [address] });
    // Mail has lines of at most 76 characters; longer lines are broken, and the reader's program joins them again.
    const content = received?.content.replaceAll("=\r\n", "");
    expect(content).include(TOKEN).include("/console/#/verify").include("Subject: Verify your e-mail address for shop");
    expect(lines).deep.equal([]);
  });

  it("has another text for a forgotten password", async () => {
    mailOver(smtpMailer(server.url, FROM)).sendPasswordReset("ada", "ada@example.com", TOKEN);
    await until("what is sent", () => server.received.length === 1);
    const content = server.received[0]?.content.replaceAll("=\r\n", "");
    expect(content).include(TOKEN).include("/console/#/verify").include("Subject: A new password for shop");
    mailOver(null).sendPasswordReset("ada", "ada@example.com", TOKEN);
    expect(lines).deep.equal([
      'warn {"userId":"ada"} a mail for a forgotten password cannot be sent: no mail server is configured',
    ]);
  });

  it("is retried when the server refuses it, and the token is not logged", async () => {
    server.refusals = 2;
    mailOver(smtpMailer(server.url, FROM), [1, 1]).sendVerification("ada", "ada@example.com", TOKEN);
    await until("what is sent", () => server.received.length === 1);
    expect(server.refused).equal(2);
    expect(lines).deep.equal(
      Array(2).fill('warn {"userId":"ada","reason":"EENVELOPE"} a verification mail could not be sent'),
    );
  });

  it("is abandoned after the last retry, and when the member stops", async () => {
    server.refusals = 10;
    mailOver(smtpMailer(server.url, FROM), [1]).sendVerification("ada", "ada@example.com", TOKEN);
    await until("what is sent", () => lines.length === 2);
    const stopping = mailOver(smtpMailer(server.url, FROM), [1, 600_000]);
    stopping.sendVerification("ben", "ben@example.com", TOKEN);
    await until("what is sent", () => lines.length === 4);
    stopping.stop();
    expect(server.refused).equal(4);
    expect(server.received).deep.equal([]);
  });

  it("does not treat an address as several addresses, or as a command", async () => {
    mailOver(smtpMailer(server.url, FROM)).sendVerification("ada", "a,b@example.com", TOKEN);
    await until("what is sent", () => server.received.length + lines.length === 1);
    expect(server.received.flatMap(({ to }) => to)).not.include("b@example.com");
  });

  it("is not sent without a mail server, and the log does not contain the token", () => {
    mailOver(null).sendVerification("ada", "ada@example.com", TOKEN);
    expect(lines).deep.equal([
      'warn {"userId":"ada"} a verification mail cannot be sent: no mail server is configured',
    ]);
  });

  it("is in the log if that is configured, for development", async () => {
    mailOver(logMailer(log)).sendVerification("ada", "ada@example.com", TOKEN);
    await until("what is sent", () => lines.length === 1);
    expect(lines[0]).match(/^info/).include(TOKEN).include("ada@example.com");
  });

  it("is sent to a limited number of users at the same time", async () => {
    let waiting = 0;
    const stuck: Mailer = {
      send: () => {
        waiting++;
        return new Promise(() => undefined);
      },
    };
    const mail = mailOver(stuck);
    for (let count = 0; count < 102; count++) {
      mail.sendVerification(`user-${count}`, "ada@example.com", TOKEN);
    }
    await until("what is sent", () => waiting === 100);
    expect(lines.map((line) => /"userId":"([^"]*)"/.exec(line)?.[1])).deep.equal(["user-100", "user-101"]);
  });
});
