/** The folders that lead to the shown keys, as links. */

import type { JSX } from "preact";
import { formatRoute } from "../../router/index.ts";
import { folderPath } from "../../text/index.ts";

export function FolderPath({
  namespace,
  prefix,
}: {
  readonly namespace: string;
  readonly prefix: string;
}): JSX.Element {
  return (
    <nav class="folder-path" aria-label="Folders">
      <a href={formatRoute("keys", [namespace])}>{namespace}</a>
      {folderPath(prefix).map((folder) => (
        <a key={folder.prefix} class="mono" href={formatRoute("keys", [namespace], { prefix: folder.prefix })}>
          {folder.name}
        </a>
      ))}
    </nav>
  );
}
