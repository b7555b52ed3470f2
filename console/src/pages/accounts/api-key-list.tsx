/** API keys: one's own, those of all users, or those of one user. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { type ApiKey, type CreatedApiKey, type KeyOwner, listApiKeys, revokeApiKey } from "../../api/index.ts";
import { nowMs, useListing } from "../../live/index.ts";
import { Person } from "../../people/index.ts";
import { mayAdminister, mayWrite, type SessionUser } from "../../session/index.ts";
import { agoText, instantText } from "../../text/index.ts";
import { Button, Checkbox, Chip, Choice, emptyText, FormDialog, ListEnd, Table } from "../../ui/index.ts";
import { CreateApiKeyDialog, CreatedApiKeyDialog } from "./api-key-dialogs.tsx";

const POLL_MS = 30_000;
const COLUMNS = [
  { name: "Name", width: 180 },
  { name: "Prefix", width: 124 },
  { name: "State", width: 84 },
  { name: "Last used", width: 104 },
  { name: "Created", width: 136 },
  { name: "Expires", width: 136 },
  { name: "Actions", width: 92, isNameHidden: true },
];

export interface ApiKeyListProps {
  readonly user: SessionUser;
  /** A user whose keys to list; empty = the choice of the view. */
  readonly ownerId: string;
}

export function ApiKeyList({ user, ownerId }: ApiKeyListProps): JSX.Element {
  const owner = useSignal<"own" | "all">("own");
  const includeRevoked = useSignal(false);
  const isCreating = useSignal(false);
  const created = useSignal<CreatedApiKey | null>(null);
  const revoked = useSignal<ApiKey | null>(null);
  const of: KeyOwner = ownerId === "" ? owner.value : { userId: ownerId };
  const listing = useListing<ApiKey>({
    load: (cursor, options) => listApiKeys(of, includeRevoked.value, cursor, options),
    intervalMs: POLL_MS,
    dependencies: [ownerId, owner.value, includeRevoked.value],
    keyOf: ({ api_key_id }) => api_key_id,
  });
  const { items: keys, loaded, refresh } = listing;
  return (
    <>
      <div class="bar">
        {mayAdminister(user) && ownerId === "" ? (
          <Choice<"own" | "all">
            label="Owner"
            options={[
              ["own", "Your keys"],
              ["all", "All keys"],
            ]}
            value={owner}
          />
        ) : (
          <span class="muted">
            {ownerId === "" ? (
              "Your keys"
            ) : (
              <>
                Keys of <Person userId={ownerId} />
              </>
            )}
          </span>
        )}
        <span class="actions">
          <Checkbox label="Revoked too" value={includeRevoked} />
          {mayWrite(user) && (
            <Button
              kind="primary"
              onClick={() => {
                isCreating.value = true;
              }}
            >
              New key
            </Button>
          )}
        </span>
      </div>
      <Table caption="API keys" columns={COLUMNS} empty={emptyText(loaded, keys.length === 0, "No API keys")}>
        {keys.map((key) => (
          <tr key={key.api_key_id}>
            <th scope="row" title={key.name}>
              {key.name}
            </th>
            <td class="mono">{key.key_prefix}</td>
            <td>{key.revoked_at === null ? <Chip tone="good">valid</Chip> : <Chip tone="bad">revoked</Chip>}</td>
            <td>{key.last_used_at === null ? "never" : agoText(Date.parse(key.last_used_at), nowMs.value)}</td>
            <td>{instantText(Date.parse(key.created_at))}</td>
            <td>{key.expires_at === null ? "never" : instantText(Date.parse(key.expires_at))}</td>
            <td class="row-actions">
              {key.revoked_at === null && (
                <Button
                  kind="danger"
                  onClick={() => {
                    revoked.value = key;
                  }}
                >
                  Revoke
                </Button>
              )}
            </td>
          </tr>
        ))}
      </Table>
      <ListEnd listing={listing} words={["API key", "API keys"]} />
      {isCreating.value && (
        <CreateApiKeyDialog
          onCreated={(key) => {
            created.value = key;
            refresh();
          }}
          onClose={() => {
            isCreating.value = false;
          }}
        />
      )}
      {created.value !== null && (
        <CreatedApiKeyDialog
          created={created.value}
          onClose={() => {
            created.value = null;
          }}
        />
      )}
      {revoked.value !== null && (
        <RevokeDialog
          apiKey={revoked.value}
          onDone={refresh}
          onClose={() => {
            revoked.value = null;
          }}
        />
      )}
    </>
  );
}

interface RevokeDialogProps {
  readonly apiKey: ApiKey;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

function RevokeDialog({ apiKey, onDone, onClose }: RevokeDialogProps): JSX.Element {
  return (
    <FormDialog
      title="Revoke the API key"
      action="Revoke"
      isDanger
      confirmation={apiKey.name}
      done={`API key ${apiKey.name} revoked`}
      onClose={onClose}
      onSubmit={async () => {
        await revokeApiKey(apiKey.api_key_id);
        onDone();
      }}
    >
      <p>The key and all of its tokens end at once and for good. Programs that use it fail from then on.</p>
    </FormDialog>
  );
}
