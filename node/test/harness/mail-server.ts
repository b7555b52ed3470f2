/**
 * A mail server on the loopback interface. It speaks as much of SMTP (RFC 5321) as a client needs to deliver a mail,
 * keeps the mails, and refuses as many as the spec wants.
 */

import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Headers and text, lines as they came. */
  readonly content: string;
}

export class MailServer {
  readonly received: ReceivedMail[] = [];
  /** Number of mails to refuse from now on. */
  refusals = 0;
  refused = 0;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => this.#serve(socket));

  static async open(): Promise<MailServer> {
    const server = new MailServer();
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  get url(): string {
    return `smtp://127.0.0.1:${(this.#server.address() as AddressInfo).port}?ignoreTLS=true`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) {
      socket.destroy();
    }
    this.#server.close();
    await once(this.#server, "close");
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    let buffered = "";
    let from = "";
    let to: string[] = [];
    let content: string[] | null = null;
    const say = (line: string) => socket.write(`${line}\r\n`);
    const onLine = (line: string): void => {
      if (content !== null) {
        if (line === ".") {
          this.received.push({ from, to, content: content.join("\r\n") });
          content = null;
          say("250 taken");
        } else {
          content.push(line.startsWith("..") ? line.slice(1) : line);
        }
        return;
      }
      const command = line.slice(0, 4).toUpperCase();
      if (command === "MAIL") {
        if (this.refusals > 0) {
          this.refusals--;
          this.refused++;
          say("451 not now");
          return;
        }
        from = /<([^>]*)>/.exec(line)?.[1] ?? "";
        to = [];
        say("250 ok");
      } else if (command === "RCPT") {
        to.push(/<([^>]*)>/.exec(line)?.[1] ?? "");
        say("250 ok");
      } else if (command === "DATA") {
        content = [];
        say("354 go on");
      } else if (command === "QUIT") {
        say("221 bye");
        socket.end();
      } else {
        say("250 ok");
      }
    };
    say("220 ready");
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => {
      const lines = (buffered + chunk).split("\r\n");
      buffered = lines.pop() ?? "";
      lines.forEach(onLine);
    });
  }
}
