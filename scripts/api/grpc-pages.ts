/** The pages about gRPC: one for each file of the contract. The comments of the contract are their text. */

import type {
  ContractEnum,
  ContractField,
  ContractFile,
  ContractMessage,
  ContractMethod,
  FieldType,
} from "./contract.ts";
import { examplesOf } from "./example-text.ts";
import { anchorOf, prose, table } from "./markdown.ts";

/** The page of each file of the contract, in the order of the overview. */
export const GRPC_PAGES: ReadonlyMap<string, { readonly page: string; readonly title: string }> = new Map([
  ["key_value", { page: "key-value", title: "Keys and values" }],
  ["lock", { page: "locks", title: "Locks" }],
  ["memory", { page: "memory", title: "Memory regions" }],
  ["session", { page: "sessions", title: "Sessions" }],
  ["transaction", { page: "transactions", title: "Transactions" }],
  ["watch", { page: "watches", title: "Watches" }],
  ["event_log", { page: "event-logs", title: "Event logs" }],
  ["account", { page: "accounts", title: "Accounts" }],
  ["cluster", { page: "cluster", title: "Members of the cluster" }],
  ["cluster_admin", { page: "administration", title: "Administration" }],
  ["types", { page: "types", title: "Shared types" }],
]);

/** The text of each page, by its name without folder and ending. Raises Error if a file has no page. */
export function grpcPages(files: readonly ContractFile[]): ReadonlyMap<string, string> {
  const links = linksOf(files);
  return new Map(
    files.map((file) => {
      const { page } = pageOf(file);
      return [page, new GrpcPage(file, page, links).text()];
    }),
  );
}

function pageOf({ name }: ContractFile): { readonly page: string; readonly title: string } {
  const found = GRPC_PAGES.get(name);
  if (found === undefined) {
    throw new Error(`proto/coordination/v1/${name}.proto needs a page in scripts/api/grpc-pages.ts`);
  }
  return found;
}

/** The place that describes each message and enum, as page#anchor. */
function linksOf(files: readonly ContractFile[]): ReadonlyMap<string, string> {
  const links = new Map<string, string>();
  for (const file of files) {
    const { page } = pageOf(file);
    for (const service of file.services) {
      for (const { name, input, output } of service.methods) {
        links.set(input, `${page}.md#${anchorOf(name)}`);
        links.set(output, `${page}.md#${anchorOf(name)}`);
      }
    }
    for (const { name } of [...file.messages, ...file.enums]) {
      if (!links.has(name)) {
        links.set(name, `${page}.md#${anchorOf(name)}`);
      }
    }
  }
  return links;
}

class GrpcPage {
  readonly #file: ContractFile;
  readonly #page: string;
  readonly #links: ReadonlyMap<string, string>;
  readonly #messages: ReadonlyMap<string, ContractMessage>;

  constructor(file: ContractFile, page: string, links: ReadonlyMap<string, string>) {
    this.#file = file;
    this.#page = page;
    this.#links = links;
    this.#messages = new Map(file.messages.map((message) => [message.name, message]));
  }

  text(): string {
    const { services, messages, enums } = this.#file;
    const methods = services.flatMap((service) => service.methods);
    const shown = new Set(methods.flatMap(({ input, output }) => [input, output]));
    const others = messages.filter(({ name }) => !shown.has(name));
    return [
      `# ${pageOf(this.#file).title}\n`,
      "<!-- Generated from proto/ by `npm run docs:api`; `npm run check` fails if it is stale. -->\n",
      ...services.flatMap((service) => [
        `${prose(service.comment)}\n`,
        `The service is \`coordination.v1.${service.name}\`. The [overview](README.md) explains the commands.\n`,
        ...service.methods.map((method) => this.#method(service.name, method)),
      ]),
      ...(services.length === 0 ? ["The types that more than one service uses.\n"] : []),
      ...others.map((message) => `## ${message.name}\n\n${prose(message.comment)}\n\n${this.#fields(message)}`),
      ...enums.map(enumSection),
    ].join("\n");
  }

  #method(service: string, { name, comment, input, output, isStream }: ContractMethod): string {
    const [about = "", errors] = comment.split(/ ?\bErrors: /);
    return [
      `## ${name}\n`,
      `${prose(about)}\n`,
      ...(errors === undefined ? [] : [`**Errors:** ${prose(errors)}\n`]),
      this.#message("Request", input),
      this.#message(isStream ? "Each message of the stream" : "Answer", output),
      examplesOf(`${service}/${name}`),
    ].join("\n");
  }

  #message(what: string, name: string): string {
    const message = this.#messages.get(name);
    if (message === undefined || !message.name.match(/(Request|Response)$/)) {
      throw new Error(`${name} is not a message of the file of its method`);
    }
    return `**${what}:** \`${name}\`. ${prose(message.comment)}\n\n${this.#fields(message)}`;
  }

  #fields({ fields }: ContractMessage): string {
    if (fields.length === 0) {
      return "It has no fields.\n";
    }
    const row = ({ name, type, comment }: ContractField) => [`\`${name}\``, this.#type(type), comment];
    return table(["Field", "Type", "Meaning"], fields.map(row));
  }

  #type({ label, of, isDefined }: FieldType): string {
    const link = this.#links.get(of) ?? "";
    const [page, anchor] = link.split("#");
    const name = isDefined ? `[${of}](${page === `${this.#page}.md` ? "" : page}#${anchor})` : of;
    switch (label) {
      case "one":
        return name;
      case "optional":
        return `${name}, optional`;
      case "repeated":
        return `list of ${name}`;
      case "map":
        return `map from ${name}`;
    }
  }
}

function enumSection({ name, comment, values }: ContractEnum): string {
  const rows = values.map((value) => [`\`${value.name}\``, value.comment]);
  return `## ${name}\n\n${prose(comment)}\n\n${table(["Value", "Meaning"], rows)}`;
}
