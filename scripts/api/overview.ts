/** The first page of the API reference: how to call, what all calls have in common, and a list of them. */

import type { ContractFile } from "./contract.ts";
import { GRPC_PAGES } from "./grpc-pages.ts";
import { HTTP_PAGES, isMethod, type OpenApiDocument, operationLink } from "./http-pages.ts";
import { anchorOf } from "./markdown.ts";

const BEGINNING = `# API reference

<!-- Generated from proto/ and openapi.json by \`npm run docs:api\`; \`npm run check\` fails if it is stale. -->

Every member serves two interfaces, and takes every call. gRPC has keys and values, locks, memory regions, watches, event
logs, accounts and administration. HTTP has all of these methods too. It also has routes of its own for tokens, API keys,
users, event logs, health and metrics. The descriptions of methods are the comments of the contract in [\`proto/\`](../../proto/). The descriptions of HTTP come
from the [OpenAPI document](openapi.json) that members serve at \`/openapi.json\`, and as a page at \`/docs\`.

## How to run the examples

A test runs every example, in one order, at a new member, and compares the answers. Ids, revisions, times and sizes
differ from run to run. The commands need [grpcurl](https://github.com/fullstorydev/grpcurl), curl and uuidgen. With
\`npm start\`, these are the settings of the shell:

\`\`\`sh
GRPC=127.0.0.1:7400 API=http://127.0.0.1:7401 ADMIN=127.0.0.1:7403
TOKEN=$(npx quoinctl token) ADMIN_TOKEN=$(head -n 1 .quoin/admin-token)
\`\`\`

The gRPC port also has the standard health service and server reflection, which need no token. The admin port has
neither: there, grpcurl reads the contract from a file of this repository.

## What all calls of gRPC have in common

A call has this metadata:

| Metadata        | Value                                                                                    |
| --------------- | ---------------------------------------------------------------------------------------- |
| \`authorization\` | \`Bearer\` and the access token; ExchangeToken and Login need none                         |
| \`api-version\`   | \`v1\`                                                                                     |
| \`request-id\`    | a UUID. Send the same one again with a retry: the answer is that of the first execution. |

In JSON, a field such as \`mod_revision\` is called \`modRevision\`. An int64 is a string, and bytes are base64. The JSON of an
answer leaves out fields with their default: 0, false, empty. A member may also refuse any call with these errors:
INVALID_ARGUMENT / BAD_METADATA or BAD_FIELD, UNAUTHENTICATED, PERMISSION_DENIED, RESOURCE_EXHAUSTED / RATE_LIMITED,
DEADLINE_EXCEEDED, and UNAVAILABLE while there is no leader.
`;

const METHODS_OVER_HTTP = `## Methods over HTTP

Each method is also a request over HTTP: \`POST\` with the full name as the path, and with the same JSON. The metadata are
headers; \`api-version\` and \`request-id\` may be left out:

\`\`\`sh
curl -s "$API/coordination.v1.KeyValueService/GetKey" -H "Authorization: Bearer $TOKEN" \\
  -H "Content-Type: application/json" -d '{ "namespace": "shop", "key": "greeting" }'
\`\`\`

A member serves the methods by the Connect protocol. [Writing a client](../writing-a-client.md#the-same-call-over-http)
has the details, and [errors](../errors.md#the-form-of-an-error) the form of errors. An answer over HTTP also has the
fields with their default, and bytes that are UTF-8 also as text, such as \`valueText\`. Methods of the admin port are not
served over HTTP.
`;

const HTTP_RULES = `## What all other requests over HTTP have in common

A request has the header \`Authorization: Bearer TOKEN\`, unless its page says that it needs no token. Every answer has the
header \`API-Version: v1\`. The body of every error is JSON with two fields: \`error\`, for people, and \`code\`, for programs.
Statuses 429 and 503 come with \`Retry-After\` in seconds. Unknown paths get 404, and other methods 405. A request with an
unknown field in its body, or an unknown parameter in its query, is refused: it may be a misspelt one. The error names it,
and the known name that is near. A field or a parameter that is given twice is refused as well.
`;

export function overviewPage(files: readonly ContractFile[], { paths }: OpenApiDocument): string {
  const grpc = [...GRPC_PAGES].map(([name, { page, title }]) => {
    const file = files.find((candidate) => candidate.name === name);
    const methods = (file?.services ?? []).flatMap((service) => service.methods);
    const links = methods.map((method) => `[${method.name}](${page}.md#${anchorOf(method.name)})`);
    return listItem(title, page, links);
  });
  const http = HTTP_PAGES.map((entry) => {
    const links = Object.entries(paths)
      .filter(([path]) => !isMethod(path))
      .filter(([path]) => HTTP_PAGES.find((one) => one.paths.test(path)) === entry)
      .flatMap(([path, operations]) =>
        Object.keys(operations).map((method) => operationLink(method.toUpperCase(), path)),
      );
    return listItem(entry.title, entry.page, links);
  });
  // The first paragraph says what the file contains.
  const [, ...conventions] = files.find(({ name }) => name === "types")?.comment.split("\n\n") ?? [];
  return [
    BEGINNING,
    `${conventions.join("\n\n")}\n`,
    METHODS_OVER_HTTP,
    HTTP_RULES,
    "## Methods of gRPC\n",
    grpc.join(""),
    "## Requests over HTTP\n",
    http.join(""),
  ].join("\n");
}

function listItem(title: string, page: string, links: readonly string[]): string {
  return `- [${title}](${page}.md)${links.length === 0 ? "" : `: ${links.join(", ")}`}\n`;
}
